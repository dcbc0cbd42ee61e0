/* Settings by the name of their PRAGMA: applied in order, then read back. Some bindings raise no
 * error for a PRAGMA that their engine does not know: what counts is what is read back. */
import { Failure } from './failure.mjs';
import { now_ns, sleep_ms } from './clock.mjs';

const SWITCH_PATIENCE_MS = 5000;
const NAP_MS = 5;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const PLAIN = /^(?:[+-]?\d+(?:\.\d+)?|[A-Za-z_][A-Za-z0-9_]*|'(?:[^']|'')*')$/;

/* SQL text for a value: numbers, words and quoted texts as they are, all else quoted. */
function value_text(value) {
    return PLAIN.test(value) ? value : `'${value.replaceAll("'", "''")}'`;
}

/* Switching a file to WAL fails at once, whatever the timeout, while another connection does the
 * same. Nothing is held and nothing measured here: it is tried again. */
async function set_patiently(driver, connection, name, value, timeout_ms) {
    const patience_ms = Math.max(timeout_ms, SWITCH_PATIENCE_MS);
    const until = now_ns() + BigInt(patience_ms) * 1000000n;
    for (;;) {
        try {
            await connection.set(name, value);
            return;
        } catch (error) {
            const locked = driver.classify(error) === 'busy' || driver.code(error) === 6;
            if (!locked || now_ns() >= until) {
                throw error;
            }
        }
        sleep_ms(NAP_MS);
    }
}

/* A refusal is the error of a required setting, a note beside another one. */
function refused(driver, setting, state, error) {
    if (setting.required) {
        const { name, value } = setting;
        throw new Failure('settings', `setting ${name} = ${value}: ${error.message}`,
                          { code: driver.code(error) });
    }
    state.problem ??= error.message;
}

/* The list of the protocol, still without what is read back. */
export async function settings_apply(driver, connection, job) {
    const states = [];
    for (const setting of job.settings) {
        const { name, value } = setting;
        const state = { name, asked: value, got: null, required: setting.required, problem: null };
        states.push(state);
        if (!NAME.test(name)) {
            throw new Failure('settings', `'${name}' is no name of a setting: letters, digits ` +
                                          'and _ were expected');
        }
        try {
            if (name.toLowerCase() === 'journal_mode') {
                const text = value_text(value);
                await set_patiently(driver, connection, name, text, job.busy_timeout_ms);
            } else {
                await connection.set(name, value_text(value));
            }
        } catch (error) {
            refused(driver, setting, state, error);
        }
    }
    return states;
}

export async function settings_read(driver, connection, job, states) {
    for (const [i, setting] of job.settings.entries()) {
        try {
            const got = await connection.get(setting.name);
            states[i].got = got === undefined || got === null ? null : String(got);
        } catch (error) {
            refused(driver, setting, states[i], error);
        }
    }
    return states;
}
