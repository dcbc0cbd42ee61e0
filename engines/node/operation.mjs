/*
 * One execution of a script: its calls, its tries, its one outcome, as in src/worker/operation.c.
 *
 *     busy         roll back               -> busy
 *     conflict     roll back, all again    -> conflict after max_tries
 *     failed       roll back               -> failed, message kept
 *     cut          roll back               -> open, whatever the engine said
 *
 * Rows are acknowledged by what the engine has committed, not by outcome: those of a statement
 * outside a transaction at once, others at the commit.
 */
import { BUSY, CONFLICT, FAILED, OK, OPEN } from './account.mjs';
import { SIGNAL } from './control.mjs';
import { CALL_BEGIN_WRITE, CALL_COMMIT } from './evaluate.mjs';
import { twin } from './twin.mjs';

/* Runs the calls from operation.next on, up to a commit or the end. Where a transaction begins it
 * hands itself to the binding, which calls it again inside. `handle` is what the binding gives to
 * the inside; undefined: it has none. */
const run_calls = twin(async function run_calls(operation, handle) {
    const { entry, effect, tally, numbers, signals } = operation;
    const { calls, values, count } = entry.evaluation;
    const written = operation.inside ? tally.pending : tally.acknowledged;
    while (operation.next < count) {
        if (signals[operation.CUT] !== 0) {
            throw operation.interrupted;
        }
        const call = calls[operation.next];
        if (call < 0) {
            operation.statement = null;
            if (call === operation.COMMIT) {
                return;
            }
            operation.next++;
            operation.inside = true;
            await operation.transact(call === operation.BEGIN_WRITE);
            operation.inside = false;
            operation.next++;
            tally.committed();
            continue;
        }
        operation.statement = call;
        const statement = handle === undefined ? entry.statements[call]
                                               : await entry.statements[call].within(handle);
        const before = effect.changed;
        await statement.call(values, operation.value, effect);
        if (effect.changed !== before) {
            numbers[written + call] += effect.changed - before;
        }
        if (operation.observer !== null) {
            operation.observer.ran(call, operation.value, effect, before);
        }
        operation.value += statement.parameters;
        operation.next++;
    }
});

const execute = twin(async function execute(operation, entry) {
    const { effect } = operation;
    operation.entry = entry;
    operation.tally = entry.tally;
    operation.numbers = entry.tally.numbers;
    for (let tries = 1;; tries++) {
        let outcome = operation.OK;
        effect.read = 0;
        effect.changed = 0;
        operation.next = 0;
        operation.value = 0;
        operation.inside = false;
        operation.first_error = null;
        if (operation.observer !== null) {
            operation.observer.begin();
        }
        try {
            await operation.run_calls(operation, undefined);
            return outcome;
        } catch (error) {
            outcome = operation.judge(error);
        }
        entry.tally.rolled_back();
        try {
            await operation.connection.rollback();
        } catch (error) {
            outcome = operation.judge_rollback(outcome, error);
        }
        if (outcome !== operation.CONFLICT || tries >= operation.max_tries) {
            return outcome;
        }
        entry.tally.retried();
    }
});

/* Anything may be thrown. */
function error_of(thrown) {
    return thrown instanceof Error ? thrown : new Error(`${thrown} was thrown`);
}

/* What the executions of a connection have in common. */
export class Operation {
    /* `signals`: control.mjs. */
    constructor(driver, connection, max_tries, signals) {
        const kind = driver.synchronous ? 'synchronous' : 'asynchronous';
        this.driver = driver;
        this.connection = connection;
        this.max_tries = max_tries;
        this.signals = signals;
        this.interrupted = new Error('interrupted');
        this.effect = { read: 0, changed: 0, rows: null };
        this.observer = null; /* sees answers; only where nothing is timed */
        this.run_calls = run_calls[kind];
        this.execute = execute[kind];
        this.entry = null;
        this.tally = null;
        this.numbers = null;
        this.next = 0;         /* call */
        this.value = 0;        /* first value of that call */
        this.statement = null; /* that is running; null: begin, commit or rollback */
        this.inside = false;   /* a transaction */
        this.first_error = null;
        this.CUT = SIGNAL.CUT;
        this.OK = OK;
        this.CONFLICT = CONFLICT;
        this.COMMIT = CALL_COMMIT;
        this.BEGIN_WRITE = CALL_BEGIN_WRITE;
        this.transact = connection.transactions(driver.synchronous
            ? (handle) => this.#body(handle) : (handle) => this.#body_async(handle));
    }

    /* A binding that rolls back by itself may lose the reason when that fails, too. */
    #body(handle) {
        try {
            this.run_calls(this, handle);
        } catch (error) {
            this.first_error ??= error;
            throw error;
        }
    }

    async #body_async(handle) {
        try {
            await this.run_calls(this, handle);
        } catch (error) {
            this.first_error ??= error;
            throw error;
        }
    }

    get #cut() {
        return Atomics.load(this.signals, SIGNAL.CUT) !== 0;
    }

    judge(thrown) {
        const error = error_of(this.first_error ?? thrown);
        if (this.#cut) {
            return OPEN;
        }
        const kind = this.driver.classify(error);
        if (kind === 'busy') {
            return BUSY;
        }
        return kind === 'conflict' ? CONFLICT : this.#fail(error, this.statement);
    }

    /* What comes after a rollback that failed cannot be trusted to be a fresh start. */
    judge_rollback(outcome, error) {
        if (outcome === FAILED || outcome === OPEN) {
            return outcome;
        }
        return this.#cut ? OPEN : this.#fail(error_of(error), null);
    }

    #fail(error, statement) {
        this.entry.tally.failed(statement, this.driver.code(error),
                                error.message || 'failed without a message');
        return FAILED;
    }
}
