/*
 * The thread of one connection in a run; src/worker/connection.c. It posts a message when it has
 * reached a stage, and none in between.
 *
 * A synchronous binding cannot be interrupted from outside: an operation that is still inside the
 * engine when the grace is over is given up by the main thread, which counts it as open and ends
 * the process without waiting for it.
 */
import { parentPort, workerData } from 'node:worker_threads';

import { Account } from './account.mjs';
import { now_ns, since, sleep_until_ns } from './clock.mjs';
import { Control, STAGE, park } from './control.mjs';
import { load_driver } from './drivers.mjs';
import { failure_line, failure_of } from './failure.mjs';
import { Loop } from './loop.mjs';
import { open_database } from './open.mjs';
import { prepare_thread } from './pace.mjs';
import { settings_apply, settings_read } from './settings.mjs';
import { thread_usage, usage_now } from './usage.mjs';

async function open_all() {
    const { binding, bigint, job, role, number } = workerData;
    const { driver } = await load_driver(binding);
    const connection = await open_database(driver, job, bigint);
    const settings = await settings_apply(driver, connection, job);
    await settings_read(driver, connection, job, settings);
    const account = new Account(workerData.account);
    const control = new Control(workerData.control);
    account.restart();
    const loop = new Loop({ driver, connection, job, role: job.roles[role], number, account, bigint,
                            signals: control.signals });
    await loop.prepare(false);
    if (job.rate !== null) {
        prepare_thread();
    }
    parentPort.postMessage({ reached: 'open', settings });
    return { connection, loop, control, account };
}

/* Afterwards the account is empty again, but warm. In a closed loop even before an open one: at a
 * low rate a few seconds would neither fill a cache nor compile anything. */
async function warm_up({ loop, control, account }) {
    const { job } = workerData;
    loop.restart(true);
    if (!await loop.run('warmup', now_ns(), control.warmup_ns, job.warmup.operations)) {
        park();
    }
    const operations = account.done;
    loop.restart(false);
    parentPort.postMessage({ reached: 'warm', operations });
}

/* Neither running nor waiting for a core: asleep, for a lock, a disk or a page. Not known of
 * bindings with promises, whose engine may work in other threads meanwhile, where an operation was
 * still open, for the thread's figures go beyond its window, and in an open loop, which also sleeps
 * until an operation is due. The kernel's figures may be a tick (1 to 10 ms) old when they are
 * read, so of single operations nothing can be said. */
function off_cpu(account, synchronous, start_ns, { cpu_ns, run_queue_ns }) {
    if (!synchronous || workerData.job.rate !== null || cpu_ns === null || run_queue_ns === null ||
        account.ended_ns > account.settled_ns) {
        return null;
    }
    return Math.max(0, account.settled_ns - start_ns - cpu_ns - run_queue_ns);
}

/* Figures of the thread are taken before the sleep and after the last operation, so that they
 * take nothing from the window. */
async function measure({ loop, control, account }) {
    const { job, role } = workerData;
    const { operations } = job.roles[role];
    const before = thread_usage();
    sleep_until_ns(control.at_ns);
    if (job.rate !== null) {
        loop.start_pace(control.at_ns);
    }
    if (!await loop.run('run', control.at_ns, control.deadline_ns, operations)) {
        park();
    }
    const after = thread_usage();
    const between = (key) =>
        (before[key] === null || after[key] === null ? null : after[key] - before[key]);
    const used = { cpu_ns: between('cpu_ns'), run_queue_ns: between('run_queue_ns') };
    const start_ns = since(account.base_s, control.at_ns);
    const off_cpu_ns = off_cpu(account, loop.synchronous, start_ns, used);
    parentPort.postMessage({ reached: 'left', ...used, off_cpu_ns,
                             usage: control.leave() ? usage_now() : null });
}

async function work() {
    const all = await open_all();
    if (all.control.await_stage(STAGE.WARMUP)) {
        await warm_up(all);
    }
    if (all.control.await_stage(STAGE.RUN)) {
        await measure(all);
    }
    all.control.await_stage(STAGE.CLOSING);
    const began_ns = now_ns();
    await all.connection.close();
    parentPort.postMessage({ reached: 'closed', began_ns, ended_ns: now_ns() });
}

/* ---- the thread ------------------------------------------------------------------------ */

if (workerData?.part === 'connection') {
    try {
        await work();
    } catch (error) {
        parentPort.postMessage({ failed: failure_line(failure_of(error, 'internal')) });
    }
}
