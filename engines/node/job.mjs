/* A job as the coordinator sent it, checked; src/worker/job.h. */
import { Failure } from './failure.mjs';
import { read_script } from './script.mjs';
import { unescape_bytes } from './wire.mjs';

export const PROTOCOL = 1;

const CONNECTIONS_MAX = 100000;
const SCRIPTS_MAX = 10000;
const SETTINGS_MAX = 1000;
const TABLES_MAX = 100000;
const WEIGHT_MAX = 1000000;
const TRIES_MAX = 1000000;
const VERIFY_TRIES = 10;
const VERIFY_MAX = 1000000;
const IGNORE_MAX = 10000;
const DETAIL_ROWS_MAX = 1000;
const OPERATIONS_MAX = 1e12;
const TIME_MAX_NS = 1e15;
const RATE_MIN = 0.001;
const RATE_MAX = 1e9;
const DEPTHS_MAX = 16;
const DEPTH_MAX = 1024;
const UINT32_MAX = 0xFFFFFFFF;

function bad(message) {
    return new Failure('job', message);
}

/* ---- parts ------------------------------------------------------------------------ */

function get(object, key, where, fits, what) {
    const value = object === null || typeof object !== 'object' ? undefined : object[key];
    if (!fits(value)) {
        const found = value === undefined ? 'missing' : JSON.stringify(value).slice(0, 60);
        throw bad(`${where}: ${key} is ${found}, must be ${what}`);
    }
    return value;
}

const is_text = (value) => typeof value === 'string';
const is_object = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

function number(object, key, where, min, max) {
    return get(object, key, where, (value) => Number.isSafeInteger(value) && value >= min &&
                                              value <= max, `a whole number from ${min} to ${max}`);
}

function list(object, key, where, min, max) {
    const items = get(object, key, where, Array.isArray, 'a list');
    if (items.length < min || items.length > max) {
        throw bad(`${where}: ${items.length} ${key}, must be ${min} to ${max}`);
    }
    return items;
}

function choice(object, key, where, names) {
    return get(object, key, where, (value) => names.includes(value), names.join(' or '));
}

function texts(line, key, max) {
    const items = list(line, key, 'job', 0, max);
    if (!items.every(is_text)) {
        throw bad(`job: an entry of ${key} is no text`);
    }
    return items;
}

/* ---- what all kinds hold ------------------------------------------------------------ */

function database(line) {
    const text = get(line, 'database', 'job', is_text, 'the path of a database');
    const bytes = unescape_bytes(text);
    const path = bytes.toString('utf8');
    if (bytes.length === 0 || bytes.includes(0)) {
        throw bad('job: database must be a path, not empty and without a NUL byte');
    }
    if (!Buffer.from(path, 'utf8').equals(bytes)) {
        throw bad(`job: the path ${path} is no UTF-8, which the Node packages cannot open`);
    }
    return path;
}

function setting(entry) {
    const where = 'job: entry of settings';
    return {
        name: get(entry, 'name', where, is_text, 'a text'),
        value: get(entry, 'value', where, is_text, 'a text'),
        required: get(entry, 'required', where, (value) => typeof value === 'boolean',
                      'true or false'),
    };
}

function common(line) {
    const variables = get(line, 'variables', 'job', is_object, 'an object');
    for (const name of Object.keys(variables)) {
        number(variables, name, 'job: variables', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    }
    return {
        job: line.job,
        database: database(line),
        busy_timeout_ms: number(line, 'busy_timeout_ms', 'job', 0, 0x7FFFFFFF),
        seed: number(line, 'seed', 'job', 0, UINT32_MAX),
        settings: list(line, 'settings', 'job', 0, SETTINGS_MAX).map(setting),
        variables,
    };
}

function scripts(line) {
    return list(line, 'scripts', 'job', 1, SCRIPTS_MAX).map((tree, i) => {
        try {
            const kind = tree?.kind === undefined ? 'write'
                : choice(tree, 'kind', 'script', ['write', 'read']);
            return { ...read_script(tree), kind };
        } catch (error) {
            throw bad(`job: script ${i}: ${error.message}`);
        }
    });
}

/* ---- run ---------------------------------------------------------------------------- */

function optional(object, where, key, least, most) {
    return object[key] === undefined || object[key] === null
        ? null : number(object, key, where, least, most);
}

function role(entry, script_count) {
    const name = get(entry, 'name', 'job: role', is_text, 'a text');
    const where = "job: entry of a role's scripts";
    const shares = list(entry, 'scripts', `job: role ${name}`, 1, script_count).map((share) => ({
        script: number(share, 'script', where, 0, script_count - 1),
        weight: number(share, 'weight', where, 1, WEIGHT_MAX),
    }));
    const seen = new Set();
    for (const { script } of shares) {
        if (seen.has(script)) {
            throw bad(`job: role ${name} lists script ${script} twice; add the weights up`);
        }
        seen.add(script);
    }
    const connections = number(entry, 'connections', 'job: role', 1, CONNECTIONS_MAX);
    const operations = optional(entry, 'job: role', 'operations', 1, OPERATIONS_MAX);
    return { name, connections, operations, scripts: shares };
}

/* Exactly one of a time and a number of executions. */
function extent(object, where, time_key, least) {
    const time_ns = optional(object, where, time_key, least, TIME_MAX_NS);
    const operations = optional(object, where, 'operations', least, OPERATIONS_MAX);
    if ((time_ns === null) === (operations === null)) {
        throw bad(`${where}: exactly one of ${time_key} and operations is needed`);
    }
    return { time_ns, operations };
}

function read_run(line, job) {
    job.scripts = scripts(line);
    job.roles = list(line, 'roles', 'job', 1, CONNECTIONS_MAX)
        .map((entry) => role(entry, job.scripts.length));
    job.connection_count = job.roles.reduce((sum, { connections }) => sum + connections, 0);
    if (job.connection_count > CONNECTIONS_MAX) {
        throw bad(`job: more than ${CONNECTIONS_MAX} connections in all roles together`);
    }
    job.first_connection = number(line, 'first_connection', 'job', 0, UINT32_MAX);
    job.connections_total = number(line, 'connections_total', 'job', 1, UINT32_MAX);
    const last = job.first_connection + job.connection_count - 1;
    if (last >= job.connections_total) {
        throw bad(`job: connections ${job.first_connection} to ${last} do not fit ` +
                  `connections_total, ${job.connections_total}`);
    }
    job.warmup = extent(get(line, 'warmup', 'job', is_object, 'an object'), 'job: warmup', 'ns', 0);
    ({ time_ns: job.duration_ns, operations: job.operations } =
        extent(line, 'job', 'duration_ns', 1));
    for (const one of job.roles) {
        if (one.operations !== null && job.operations === null) {
            throw bad(`job: role ${one.name} has operations, but the job lasts for a time`);
        }
        one.operations ??= job.operations;
    }
    job.grace_ns = number(line, 'grace_ns', 'job', 0, TIME_MAX_NS);
    job.latency_limit_ns = number(line, 'latency_limit_ns', 'job', 0, TIME_MAX_NS);
    job.max_tries = number(line, 'max_tries', 'job', 1, TRIES_MAX);
    job.rate = line.rate === undefined || line.rate === null ? null
        : get(line, 'rate', 'job', (rate) => typeof rate === 'number' && rate >= RATE_MIN &&
                                             rate <= RATE_MAX,
              `a number from ${RATE_MIN} to ${RATE_MAX}`);
}

/* ---- event_loop ---------------------------------------------------------------------- */

function read_event_loop(line, job) {
    job.scripts = scripts(line);
    job.roles = list(line, 'roles', 'job', 1, 1).map((entry) => role(entry, job.scripts.length));
    if (job.roles[0].connections !== 1) {
        throw bad(`job: event_loop has one connection, not ${job.roles[0].connections}`);
    }
    job.warmup = extent(get(line, 'warmup', 'job', is_object, 'an object'), 'job: warmup', 'ns', 0);
    job.duration_ns = number(line, 'duration_ns', 'job', 1, TIME_MAX_NS);
    job.in_flight = list(line, 'in_flight', 'job', 0, DEPTHS_MAX);
    job.in_flight.forEach((_, i) => number(job.in_flight, i, 'job: in_flight', 1, DEPTH_MAX));
    job.max_tries = number(line, 'max_tries', 'job', 1, TRIES_MAX);
    job.latency_limit_ns = TIME_MAX_NS;
    job.rate = null;
}

/* ---- check, verify ------------------------------------------------------------------- */

function read_check(line, job) {
    job.tables = texts(line, 'tables', TABLES_MAX);
    job.integrity = choice(line, 'integrity', 'job', ['none', 'quick', 'full']);
}

function read_detail(line, job) {
    if (line.detail === undefined || line.detail === null) {
        return null;
    }
    const detail = get(line, 'detail', 'job', is_object, 'an object');
    return {
        script: number(detail, 'script', 'job: detail', 0, job.scripts.length - 1),
        operation: number(detail, 'operation', 'job: detail', 0, job.operations - 1),
        rows: number(detail, 'rows', 'job: detail', 0, DETAIL_ROWS_MAX),
    };
}

function read_verify(line, job) {
    job.scripts = scripts(line);
    job.compare = line.scripts.map((tree) =>
        choice(tree, 'compare', 'job: script', ['ordered', 'set', 'count']));
    job.operations = number(line, 'operations', 'job', 1, VERIFY_MAX);
    if (job.operations * job.scripts.length > VERIFY_MAX) {
        throw bad(`job: ${job.operations} operations of each of ${job.scripts.length} scripts, ` +
                  `at most ${VERIFY_MAX} in all are taken`);
    }
    job.ignore = texts(line, 'ignore', IGNORE_MAX);
    for (const entry of job.ignore) {
        if (!/^[^.]+\../s.test(entry)) {
            throw bad(`job: ignore holds '${entry}', must be table.column`);
        }
    }
    job.max_tries = line.max_tries === undefined || line.max_tries === null ? VERIFY_TRIES
        : number(line, 'max_tries', 'job', 1, TRIES_MAX);
    job.detail = read_detail(line, job);
    job.roles = [{ name: 'verify', connections: 1,
                   scripts: job.scripts.map((_, script) => ({ script, weight: 1 })) }];
    job.connections_total = 1;
    job.latency_limit_ns = TIME_MAX_NS;
    job.rate = null;
}

const READERS = { run: read_run, event_loop: read_event_loop, check: read_check,
                  verify: read_verify };

/* A new object; throws a Failure that names the key and what is wrong with it. */
export function read_job(line) {
    if (line.protocol !== PROTOCOL) {
        throw bad(`job: protocol version ${JSON.stringify(line.protocol)}, this worker speaks ` +
                  `version ${PROTOCOL}`);
    }
    const kind = get(line, 'job', 'job', is_text, 'a text');
    if (!Object.hasOwn(READERS, kind)) {
        throw bad(kind === 'load' ? 'this worker cannot load a database: the Node engines ' +
                                    'measure a template that another engine has loaded'
                                  : `job kind ${kind} is not known to this worker`);
    }
    const job = common(line);
    READERS[kind](line, job);
    return job;
}
