/* What a message of Turso's packages means: version 0.7 gives every error the same code. The first
 * that fits counts; a constraint comes first, since its message names columns, which may be called
 * anything. */

const MEANINGS = [
    [/constraint failed/i, 'failed', 19],
    [/snapshot is stale|write-write conflict|conflict/i, 'conflict', 5],
    [/database is locked|database is busy|\bbusy\b/i, 'busy', 5],
    [/database or disk is full|no space left/i, 'failed', 13],
    [/not a database/i, 'failed', 26],
    [/corrupt|malformed/i, 'failed', 11],
    [/I\/O error/i, 'failed', 10],
];

function meaning(error) {
    return MEANINGS.find(([pattern]) => pattern.test(error.message)) ?? [null, 'failed', 1];
}

export function turso_classify(error) {
    return meaning(error)[1];
}

export function turso_code(error) {
    return error.rawCode ?? meaning(error)[2];
}
