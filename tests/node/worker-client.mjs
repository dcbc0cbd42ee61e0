/* Speaks the worker protocol with one worker.mjs, for the tests beside this file. */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync,
         writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

const LIMIT_MS = 30000; /* no test waits longer for anything; a hang is a failure */
const ENGINES = new URL('../../engines/node/', import.meta.url);

/* A folder with the worker and a package better-sqlite3 that is none. */
export function make_fake_folder() {
    const folder = mkdtempSync(join(tmpdir(), 'pitot-node-test-'));
    cpSync(ENGINES, folder, { recursive: true, filter: (path) => !path.includes('node_modules') });
    const package_folder = join(folder, 'node_modules/better-sqlite3');
    mkdirSync(package_folder, { recursive: true });
    cpSync(new URL('./fake-better-sqlite3.cjs', import.meta.url),
           join(package_folder, 'index.cjs'));
    writeFileSync(join(package_folder, 'package.json'),
                  JSON.stringify({ name: 'better-sqlite3', version: '1.2.3', main: 'index.cjs' }));
    writeFileSync(join(folder, 'database'), '');
    return folder;
}

export function remove_folder(folder) {
    rmSync(folder, { recursive: true, force: true });
}

/* A folder with this checkout's worker and the packages and interpreter of the built engines; null:
 * they are not built. */
export function make_engines_folder() {
    const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
    const built = join(process.env.PITOT_ENGINES_CACHE || join(cache, 'pitot/engines'), 'node');
    if (!existsSync(join(built, 'node'))) {
        return null;
    }
    const folder = mkdtempSync(join(tmpdir(), 'pitot-node-test-'));
    cpSync(ENGINES, folder, { recursive: true, filter: (path) => !path.includes('node_modules') });
    symlinkSync(join(realpathSync(built), 'node_modules'), join(folder, 'node_modules'));
    symlinkSync(realpathSync(join(built, 'node')), join(folder, 'node'));
    return folder;
}

/* Node that cannot become another program ends by a signal where threads are still running. */
export const CAN_EXECVE = typeof process.execve === 'function';

export class Client {
    constructor(folder, words, { interpreter = process.execPath, environment = {} } = {}) {
        this.process = spawn(interpreter, [join(folder, 'worker.mjs'), ...words], {
            stdio: ['pipe', 'pipe', 'pipe', 'pipe'], env: { ...process.env, ...environment },
        });
        this.lines = [];
        this.progress = [];
        this.log = '';
        this.wake = () => {};
        this.over = false;
        this.process.stdin.on('error', () => {});
        for (const stream of [this.process.stdout, this.process.stderr]) {
            stream.on('data', (chunk) => {
                this.log += chunk;
            });
        }
        let pending = '';
        this.process.stdio[3].on('data', (chunk) => {
            pending += chunk;
            const parts = pending.split('\n');
            pending = parts.pop();
            this.lines.push(...parts.map((part) => JSON.parse(part)));
            this.wake();
        });
        this.process.on('close', (status, signal) => {
            this.over = true;
            this.status = status;
            this.signal = signal;
            this.wake();
        });
    }

    async #until(condition, what) {
        const limit = setTimeout(() => {
            this.late = true;
            this.wake();
        }, LIMIT_MS);
        while (!condition()) {
            if (this.late) {
                this.kill();
                throw new Error(`${what}: not within ${LIMIT_MS} ms; log: ${this.log}`);
            }
            await new Promise((resolve) => {
                this.wake = resolve;
            });
        }
        clearTimeout(limit);
    }

    send(line) {
        this.send_text(JSON.stringify(line) + '\n');
    }

    send_text(text) {
        this.process.stdin.write(text);
    }

    end_input() {
        this.process.stdin.end();
    }

    go() {
        const at_ns = Number(process.hrtime.bigint() + 20000000n);
        this.send({ kind: 'go', at_ns });
        return at_ns;
    }

    /* The next line that is no progress; it must be of this kind. */
    async expect(kind) {
        for (;;) {
            await this.#until(() => this.lines.length > 0 || this.over, `a line ${kind}`);
            const line = this.lines.shift();
            if (line?.kind === 'progress') {
                this.progress.push(line);
                continue;
            }
            if (line?.kind !== kind) {
                this.kill();
                throw new Error(`${kind} was expected: ${JSON.stringify(line)}; log: ${this.log}`);
            }
            return line;
        }
    }

    /* Nothing more on descriptor 3; { status, signal }. */
    async ended() {
        await this.#until(() => this.over, 'the end');
        if (this.lines.some(({ kind }) => kind !== 'progress')) {
            throw new Error(`lines too many: ${JSON.stringify(this.lines)}`);
        }
        return { status: this.status, signal: this.signal };
    }

    kill() {
        if (!this.over) {
            this.process.kill('SIGKILL');
        }
    }
}

/* ---- compiled scripts and jobs ------------------------------------------------------- */

const place = [1, 1];

export function constant(value, type = 'integer') {
    return { op: 'constant', type, value, place };
}

export function variable(index, type = 'integer') {
    return { op: 'variable', type, variable: index, place };
}

export function call(op, ...args) {
    return { op, type: 'integer', arguments: args, place };
}

export function set(index, expression) {
    return { step: 'set', variable: index, expression, place };
}

export function step(kind, statement) {
    return { step: kind, place, ...(statement === undefined ? {} : { statement }) };
}

/* A script whose statements run one after the other, without parameters. */
export function script(name, sqls, { steps, kind = 'write' } = {}) {
    return {
        name, kind, operations: 1, variables: [], compare: 'ordered',
        statements: sqls.map((sql) => ({ sql, parameters: [], one: false, place })),
        steps: steps ?? sqls.map((_, i) => step('statement', i)),
    };
}

export function job(kind, database, more = {}) {
    return { kind: 'job', protocol: 1, job: kind, database, busy_timeout_ms: 5000, settings: [],
             variables: {}, seed: 7, ...more };
}

/* One connection on the main thread, in parts of so many milliseconds. */
export function event_loop_job(database, scripts, { length_ms = 200, ...more } = {}) {
    return job('event_loop', database, {
        scripts, roles: [{ name: 'app', connections: 1,
                           scripts: scripts.map((_, i) => ({ script: i, weight: 1 })) }],
        warmup: { operations: 5 }, duration_ns: length_ms * 1000000, in_flight: [1, 4],
        max_tries: 3, ...more,
    });
}

export function run_job(database, scripts, { connections = 2, ...more } = {}) {
    const line = job('run', database, {
        scripts,
        roles: [{ name: 'app', connections,
                  scripts: scripts.map((_, i) => ({ script: i, weight: 1 })) }],
        first_connection: 0, connections_total: connections, warmup: { operations: 5 },
        operations: 100, grace_ns: 1000000000, max_tries: 3, latency_limit_ns: 10000000, ...more,
    });
    if (more.duration_ns !== undefined) {
        delete line.operations;
    }
    return line;
}
