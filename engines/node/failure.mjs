/* What ends a job: the `error` line of the protocol as an exception. */

export class Failure extends Error {
    /* `details`: code, script, statement, place; absent ones are null on the wire. */
    constructor(phase, message, details = {}) {
        super(message);
        this.name = 'Failure';
        this.phase = phase;
        this.details = details;
    }
}

/* Any exception, with the phase in which it came; a Failure keeps its own. */
export function failure_of(error, phase) {
    if (error instanceof Failure) {
        return error;
    }
    const message = error instanceof Error ? error.message || error.name : String(error);
    return new Failure(phase, message === '' ? 'failed without a message' : message);
}

/* Plain data, which may cross from thread to thread. */
export function failure_line(failure) {
    const { code = null, script = null, statement = null, place = null } = failure.details;
    return { kind: 'error', phase: failure.phase, message: failure.message, code, script,
             statement, place };
}

export function failure_from_line(line) {
    return new Failure(line.phase, line.message, line);
}
