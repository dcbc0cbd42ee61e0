/*
 * What a JavaScript programmer would write without pitot: the yardstick of `make bench-harness` for
 * the worker of the Node engines.
 *
 *     node bare.mjs loop|timed all|get ENGINES DATABASE SECONDS
 *
 * Reads rows of `users` by their primary key through better-sqlite3 on one connection, after 3 s of
 * warm-up, and prints one JSON line. ENGINES is the folder with worker.mjs and the package; random
 * numbers come from the worker's own generator, so that both draw the same way. `loop` measures
 * nothing and looks at the clock every thousand operations. `timed` is the usual way to get
 * percentiles: process.hrtime.bigint() around each operation, the difference pushed to an array.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const WARMUP_MS = 3000;
const BATCH = 1000;

const [mode, way, engines, database, seconds] = process.argv.slice(2);
if (!['loop', 'timed'].includes(mode) || !['all', 'get'].includes(way) || !(seconds > 0)) {
    console.error('usage: bare.mjs loop|timed all|get ENGINES DATABASE SECONDS');
    process.exit(2);
}
const Database = createRequire(join(engines, 'worker.mjs'))('better-sqlite3');
const { PURPOSE, Random } = await import(pathToFileURL(join(engines, 'random.mjs')));

const db = new Database(database, { fileMustExist: true });
db.pragma('journal_mode = wal');
db.pragma('synchronous = normal');
db.pragma('cache_size = -65536');
const users = db.prepare('SELECT count(*) FROM users').pluck().get();
const statement =
    db.prepare('SELECT id, email, name, plan, country, created_at FROM users WHERE id = ?');
const random = new Random(0, 0, 0, 0);
random.start(1, PURPOSE.PARAMETERS, 0, 0);
let rows = 0;

/* Each of the four is a loop of its own, as it would be in a program. */
const batches = {
    loop: {
        all() {
            for (let i = 0; i < BATCH; i++) {
                rows += statement.all(1 + random.below(users)).length;
            }
        },
        get() {
            for (let i = 0; i < BATCH; i++) {
                rows += statement.get(1 + random.below(users)) === undefined ? 0 : 1;
            }
        },
    },
    timed: {
        all(times) {
            for (let i = 0; i < BATCH; i++) {
                const user = 1 + random.below(users);
                const started = process.hrtime.bigint();
                rows += statement.all(user).length;
                times.push(process.hrtime.bigint() - started);
            }
        },
        get(times) {
            for (let i = 0; i < BATCH; i++) {
                const user = 1 + random.below(users);
                const started = process.hrtime.bigint();
                rows += statement.get(user) === undefined ? 0 : 1;
                times.push(process.hrtime.bigint() - started);
            }
        },
    },
};

function run(length_ms, times) {
    const batch = batches[mode][way];
    const started = performance.now();
    let operations = 0;
    let now = started;
    while (now - started < length_ms) {
        batch(times);
        operations += BATCH;
        now = performance.now();
    }
    return operations * 1000 / (now - started);
}

run(WARMUP_MS, []);
rows = 0;
const times = [];
const operations_per_second = run(Number(seconds) * 1000, times);
const kept = times.length;
db.close();
console.log(JSON.stringify({ operations_per_second, rows, kept }));
