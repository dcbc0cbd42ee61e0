/*
 * A worker of pitot for engines that are reached through Node: one engine, one job, one process.
 * Speaks docs/worker-protocol.md on descriptors 0 and 3; 1 and 2 are its log.
 *
 *     node worker.mjs --engine NAME --binding BINDING [--option KEY=VALUE]...
 *
 * The main thread speaks, and calls no engine after `hello`; that is for threads of their own. It
 * can so answer, and end, in every state: a thread inside an engine cannot be interrupted, and
 * Node would wait for it, so the process then ends by becoming another program. The one exception
 * is a job that measures the main thread itself (event_loop.mjs).
 */
import { existsSync, fstatSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

import { clock_measure } from './clock.mjs';
import { BINDINGS, identity_of, load_driver, read_options } from './drivers.mjs';
import { run_event_loop } from './event_loop.mjs';
import { Failure, failure_from_line, failure_line, failure_of } from './failure.mjs';
import { Inbox } from './inbox.mjs';
import { PROTOCOL, read_job } from './job.mjs';
import { run_job } from './run.mjs';
import { close_wire, escape_text, listen, send } from './wire.mjs';

const VERSION = '0.1.0';
const EXIT_RESULT = 0;
const EXIT_ERROR = 1;
const EXIT_USAGE = 2;
const SHELL = '/bin/sh';
const PROGRESS_MS = 1000;

/* ---- the end ------------------------------------------------------------------------- */

/* Ends the process at once, whatever its threads are doing. A Node older than 22.15 can do that
 * only with a signal. */
function leave(status, idle) {
    close_wire();
    if (idle) {
        process.exit(status);
    }
    if (typeof process.execve === 'function' && existsSync(SHELL)) {
        process.execve(SHELL, [SHELL, '-c', `exit ${status}`], {});
    }
    process.kill(process.pid, 'SIGKILL');
}

/* ---- command line -------------------------------------------------------------------- */

function usage(message) {
    process.stderr.write(`worker.mjs: ${message}\nusage: node worker.mjs --engine NAME --binding ` +
                         'BINDING [--option KEY=VALUE]...\nStarted by pitot; takes one job on ' +
                         'standard input, answers on descriptor 3.\n');
    process.exit(EXIT_USAGE);
}

function read_command_line(words) {
    const found = { engine: null, binding: null, options: [] };
    for (let i = 0; i < words.length; i += 2) {
        const [name, value] = [words[i], words[i + 1]];
        if (value === undefined) {
            usage(`${name} has no value`);
        }
        if (name === '--engine' || name === '--binding') {
            found[name.slice(2)] = value;
        } else if (name === '--option' && value.indexOf('=') > 0) {
            const equals = value.indexOf('=');
            found.options.push([value.slice(0, equals), value.slice(equals + 1)]);
        } else {
            usage(name === '--option' ? `--option '${value}' must be KEY=VALUE`
                                      : `unknown option ${name}`);
        }
    }
    if (found.engine === null || !BINDINGS.includes(found.binding)) {
        usage(`--engine and --binding are needed; bindings are ${BINDINGS.join(', ')}`);
    }
    try {
        fstatSync(3);
    } catch {
        usage('descriptor 3 is not open; this program is started by pitot');
    }
    return found;
}

/* ---- the main thread ----------------------------------------------------------------- */

class Main {
    constructor() {
        this.inbox = new Inbox();
        this.phase = 'engine';
        this.ended = false;
        this.binding = null; /* what a thread needs to load its driver */
        this.working = 0;    /* threads whose work is not done */
    }

    leave(status) {
        leave(status, this.working === 0);
    }

    send(line) {
        send(line);
    }

    /* `total` null: it is not known. */
    progress(phase, done, total, table, elapsed_ms) {
        this.send({ kind: 'progress', phase, done, total,
                    table: table === null ? null : escape_text(table),
                    elapsed_ns: Math.round(elapsed_ms * 1e6) });
    }

    /* The last line. */
    finish(line) {
        if (this.ended) {
            return;
        }
        this.ended = true;
        const good = line.kind === 'result';
        try {
            this.send(good ? line : { ...line, message: escape_text(line.message) });
        } catch (error) {
            process.stderr.write(`worker.mjs: ${line.message ?? line.kind} (not sent: ` +
                                 `${error.message})\n`);
            this.leave(EXIT_ERROR);
        }
        this.leave(good ? EXIT_RESULT : EXIT_ERROR);
    }

    fail(error) {
        if (!(error instanceof Failure)) {
            process.stderr.write(`${error?.stack ?? error}\n`);
        }
        this.finish(failure_line(failure_of(error, this.phase)));
    }

    /* `from` comes back with each of its messages; `name` tells which thread it is. */
    start_thread(file, data, from, name) {
        let thread;
        try {
            thread = new Worker(new URL(file, import.meta.url), { workerData: data });
        } catch (error) {
            throw new Failure(this.phase, `could not start thread ${name}: ${error.message}`);
        }
        this.working++;
        thread.on('message', (message) => {
            if (message.reached === 'closed' || message.line !== undefined ||
                message.failed !== undefined) {
                from.finished = true;
                this.working--;
            }
            this.inbox.push({ from, message });
        });
        thread.on('error', (error) => this.fail(failure_of(error, this.phase)));
        thread.on('messageerror', (error) => this.fail(error));
        thread.on('exit', (status) => {
            if (from.finished !== true) {
                this.fail(new Failure(this.phase, `a thread ended with status ${status} before ` +
                                                  `its work was done: ${name}`));
            }
        });
    }

    /* ---- lines of the coordinator ---------------------------------------------------- */

    async next_line() {
        for (;;) {
            const { line, message } = await this.inbox.next();
            if (line !== undefined) {
                return line;
            }
            if (message?.failed !== undefined) {
                throw failure_from_line(message.failed);
            }
        }
    }

    /* Only `stop` may come now. */
    take_stop(line) {
        if (line.kind !== 'stop') {
            throw new Failure('protocol', `line '${line.kind}' is not expected now; 'stop' is`);
        }
    }

    async #read_job() {
        this.phase = 'job';
        const line = await this.next_line();
        if (line.kind !== 'job') {
            throw new Failure('protocol', `line '${line.kind}' where the job should be`);
        }
        return read_job(line);
    }

    /* ---- jobs -------------------------------------------------------------------------- */

    /* A check or a verify, done by a thread while this one looks after the coordinator. */
    async #tend(job) {
        const memory = new SharedArrayBuffer(16);
        const numbers = new Float64Array(memory);
        const from = { finished: false };
        let table = null;
        const started_ms = performance.now();
        let next_ms = started_ms + PROGRESS_MS;
        this.phase = job.job;
        const data = { part: 'task', ...this.binding, job, progress: memory };
        this.start_thread('./task.mjs', data, from, job.job);
        for (;;) {
            const { line, message } = await this.inbox.next(next_ms);
            if (message?.failed !== undefined) {
                throw failure_from_line(message.failed);
            }
            if (message?.line !== undefined) {
                return message.line;
            }
            table = message === undefined ? table : message.table;
            if (line !== undefined) {
                this.take_stop(line);
                throw new Failure(this.phase, 'stopped by the coordinator');
            }
            const now = performance.now();
            if (now >= next_ms) {
                const [done, total] = numbers;
                const planned = total === 0 ? null : total;
                this.progress(this.phase, done, planned, table, now - started_ms);
                next_ms = now + PROGRESS_MS;
            }
        }
    }

    #do(job) {
        switch (job.job) {
        case 'run':
            return run_job(this, job);
        case 'event_loop':
            return run_event_loop(this, job);
        default:
            return this.#tend(job);
        }
    }

    async work({ engine, binding, options }) {
        const { bigint } = read_options(options);
        const { driver, loaded } = await load_driver(binding);
        const identity = await identity_of(driver, loaded);
        this.binding = { binding, bigint };
        this.send({
            kind: 'hello', protocol: PROTOCOL, worker: `worker.mjs ${VERSION}`, build: 'release',
            engine, driver: binding, ...identity, warnings: [],
            capabilities: ['threads', 'check', 'verify', 'rate', 'event_loop'],
            clock: clock_measure(),
        });
        const job = await this.#read_job();
        this.finish(await this.#do(job));
    }
}

const main = new Main();
const command = read_command_line(process.argv.slice(2));
process.on('uncaughtException', (error) => main.fail(error));
process.on('unhandledRejection', (error) => main.fail(error));
listen((line) => main.inbox.push({ line }), (error) => main.fail(error), () => {
    if (!main.ended) {
        main.leave(EXIT_ERROR);
    }
});
main.work(command).catch((error) => main.fail(error));
