/* What messages of Turso's packages mean. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { turso_classify, turso_code } from '../../engines/node/drivers/turso-error.mjs';

test('outcome and code by message', () => {
    const cases = [
        ['database is locked', 'busy', 5],
        ['Database is busy', 'busy', 5],
        ['Write-write conflict', 'conflict', 5],
        ['database snapshot is stale', 'conflict', 5],
        ['UNIQUE constraint failed: meetings.conflict', 'failed', 19],
        ['NOT NULL constraint failed: lines.busy', 'failed', 19],
        ['Parse error: no such table: t', 'failed', 1],
    ];
    for (const [message, outcome, code] of cases) {
        const error = new Error(message);
        assert.deepEqual([turso_classify(error), turso_code(error)], [outcome, code], message);
    }
    assert.equal(turso_code(Object.assign(new Error('x'), { rawCode: 7 })), 7);
});
