/* What a connection counts, beyond what a short run reaches. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { OK, tally_new } from '../../engines/node/account.mjs';

const NO_ROWS = { read: 0, changed: 0 };
const HOUR_NS = 3600e9;

/* Executions of 1 ns, each an hour after it was due. */
function late(tally, count) {
    for (let i = 0; i < count; i++) {
        tally.attempt();
        tally.add(OK, NO_ROWS, 1, 0);
        tally.add_parts(OK, 1, HOUR_NS);
    }
}

test('sums beyond 2^53 are exact, also over connections', () => {
    const sum = tally_new(0, true);
    let count = 0;
    for (const each of [3001, 2, 2999, 3001]) {
        const tally = tally_new(0, true);
        late(tally, each);
        count += each;
        const { latency } = tally.to_json();
        assert.equal(BigInt(latency.sum), BigInt(each) * (BigInt(HOUR_NS) + 1n));
        sum.merge(tally);
    }
    const { latency, service, lag } = sum.to_json();
    assert.equal(latency.sum, (BigInt(count) * (BigInt(HOUR_NS) + 1n)).toString());
    assert.equal(service.sum, count);
    assert.equal(BigInt(lag.sum) + BigInt(service.sum), BigInt(latency.sum));
    assert.deepEqual([latency.count, latency.min, latency.max], [count, HOUR_NS + 1, HOUR_NS + 1]);
});

test('a tally that is emptied has no sums left', () => {
    const tally = tally_new(0, true);
    late(tally, 2000);
    tally.restart();
    assert.equal(tally.to_json().latency.sum, 0);
});
