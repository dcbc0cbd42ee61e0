/*
 * The hot loop of one connection, and all that it needs made beforehand; src/worker/loop.h.
 *
 * An operation is: pick a script, draw its parameters, read the clock, run, read the clock,
 * account. Two clock readings an operation; no message, no output, and of our own no allocation
 * but what a script's texts take. In an open loop (pace.mjs) the moment in which the operation is
 * due is waited for before the first reading, and its latency counts from there.
 */
import { OPEN } from './account.mjs';
import { clock_ns, since } from './clock.mjs';
import { SIGNAL } from './control.mjs';
import { Evaluation, EvaluationError } from './evaluate.mjs';
import { Failure, failure_of } from './failure.mjs';
import { Operation } from './operation.mjs';
import { Pace } from './pace.mjs';
import { PURPOSE, Random } from './random.mjs';
import { prepare_statement } from './statement.mjs';
import { twin } from './twin.mjs';

const measure = twin(async function measure(loop, deadline, operations) {
    const { account, operation, base_s, limit_ns, pace, signals } = loop;
    const { effect } = operation;
    const { seconds } = account;
    for (let done = 0; done < operations;) {
        const entry = loop.pick();
        loop.drawn = entry;
        entry.evaluation.draw(loop.op, entry.random);
        if (pace !== null) {
            pace.wait(deadline, loop.stopped);
        }
        if (signals[loop.STOP] !== 0) {
            break;
        }
        let t = process.hrtime();
        const start = (t[0] - base_s) * 1e9 + t[1];
        if (start >= deadline) {
            break;
        }
        account.begin(entry.place, start);
        const outcome = await operation.execute(operation, entry);
        t = process.hrtime();
        const end = (t[0] - base_s) * 1e9 + t[1];
        if (!account.back()) {
            return false;
        }
        const from = pace === null ? start : pace.due_ns;
        const slow = end - from > limit_ns ? 1 : 0;
        entry.tally.add(outcome, effect, end - start, slow);
        if (pace !== null) {
            entry.tally.add_parts(outcome, end - start, start - from);
            pace.next();
        }
        if (outcome === 0) {
            seconds.add(entry.place, slow, end);
        }
        if (done === 0) {
            account.set_first(start);
        }
        account.ended(end, outcome !== loop.OPEN);
        loop.op++;
        account.set_done(++done);
    }
    if (pace !== null) {
        loop.end_pace(deadline);
    }
    return true;
});

export class Loop {
    /* One entry a share of the role. `signals`: control.mjs. */
    constructor({ driver, connection, job, role, number, account, bigint, signals }) {
        this.job = job;
        this.number = number;
        this.account = account;
        this.signals = signals;
        this.STOP = SIGNAL.STOP;
        this.base_s = account.base_s;
        this.limit_ns = job.latency_limit_ns;
        this.operation = new Operation(driver, connection, job.max_tries, signals);
        this.pace = null;  /* a closed loop */
        this.op = 0;       /* `:op` of the next operation; runs on from warm-up */
        this.drawn = null; /* entry that is drawn or running */
        this.mix = new Random(0, 0, 0, 0);
        this.OPEN = OPEN;
        this.synchronous = driver.synchronous;
        this.measure = measure[driver.synchronous ? 'synchronous' : 'asynchronous'];
        this.total_weight = 0;
        this.entries = role.scripts.map(({ script, weight }, place) => {
            this.total_weight += weight;
            return this.#entry(script, place, this.total_weight, bigint);
        });
        this.pick = this.#picker();
    }

    #entry(index, place, weight_up_to, bigint) {
        const { job } = this;
        let evaluation = null;
        try {
            evaluation = new Evaluation(job.scripts[index], {
                variables: job.variables, connection: this.number,
                connections: job.connections_total, bigint, keep: job.job === 'verify',
            });
        } catch (error) {
            throw new Failure('prepare', error.message, { script: index });
        }
        return { index, place, weight_up_to, evaluation, statements: [],
                 tally: this.account.tallies[place], random: new Random(0, 0, 0, 0) };
    }

    /* The first entry whose sum of weights is larger than the number drawn. */
    #picker() {
        const { entries, mix, total_weight } = this;
        if (entries.length === 1) {
            return () => entries[0];
        }
        if (total_weight <= 1024) {
            const picks = [];
            for (const entry of entries) {
                while (picks.length < entry.weight_up_to) {
                    picks.push(entry);
                }
            }
            return () => picks[mix.below(total_weight)];
        }
        return () => {
            const draw = mix.below(total_weight);
            let i = 0;
            while (draw >= entries[i].weight_up_to) {
                i++;
            }
            return entries[i];
        };
    }

    /* `rows`: the statements give their rows as arrays, for answers that are checked. */
    async prepare(rows) {
        const { driver, connection } = this.operation;
        for (const { index, evaluation, statements } of this.entries) {
            const read = this.job.scripts[index].kind === 'read';
            for (const [i, source] of evaluation.script.statements.entries()) {
                try {
                    const wanted = { rows, read };
                    statements.push(await prepare_statement(driver, connection, source, wanted));
                } catch (error) {
                    const failure = failure_of(error, 'prepare');
                    const code = error instanceof Failure ? null : driver.code(error);
                    throw new Failure('prepare', failure.message,
                                      { code, script: index, statement: i });
                }
            }
        }
    }

    /* Empties the account (but for what is acknowledged) and starts the random streams. */
    restart(warmup) {
        const { seed } = this.job;
        this.mix.start(seed, warmup ? PURPOSE.WARMUP_MIX : PURPOSE.MIX, this.number, 0);
        for (const entry of this.entries) {
            entry.random.start(seed, warmup ? PURPOSE.WARMUP_PARAMETERS : PURPOSE.PARAMETERS,
                               this.number, entry.index);
        }
        this.account.restart();
    }

    /* For who waits, with nothing in between. */
    stopped = () => Atomics.load(this.signals, SIGNAL.STOP) !== 0;

    /* What runs next is an open loop that starts at a moment of the clock. */
    start_pace(start_ns) {
        this.pace = new Pace(this.job, this.number, this.base_s, since(this.base_s, start_ns));
    }

    /* The connection served until then, though it may have waited for work: its window ends there.
     * What was due until then and has not begun is its backlog. */
    end_pace(deadline) {
        const { account, job } = this;
        let until = account.ended_ns;
        if (this.stopped() || deadline !== Infinity) {
            until = Math.min(deadline, clock_ns(this.base_s));
        }
        account.ended(Math.max(account.ended_ns, until),
                      account.settled_ns === account.ended_ns);
        account.set_unstarted(this.pace.backlog(until, job.connection_count));
    }

    /* Runs from start_ns until the deadline (moments of the clock; null: none) or until so many
     * operations. False: the main thread has given this connection up. */
    async run(phase, start_ns, deadline_ns, operations) {
        this.account.start(since(this.base_s, start_ns));
        const deadline = deadline_ns === null ? Infinity : since(this.base_s, deadline_ns);
        try {
            return await this.measure(this, deadline, operations ?? Infinity);
        } catch (error) {
            throw mistake_of(error, phase, this.drawn.index);
        }
    }
}

/* A mistake in a script's arithmetic, told with its place; any other exception as it is. */
export function mistake_of(error, phase, script) {
    if (!(error instanceof EvaluationError)) {
        return failure_of(error, phase);
    }
    const place = error.place[0] > 0 ? error.place : null;
    return new Failure(phase, error.message, { script, place });
}

