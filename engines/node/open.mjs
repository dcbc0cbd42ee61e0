/* Opening a database that exists. */
import { existsSync } from 'node:fs';

import { Failure } from './failure.mjs';

export async function open_database(driver, job, bigint) {
    if (!existsSync(job.database)) {
        throw new Failure('open', `${job.database}: there is no such file`);
    }
    try {
        return await driver.open(job.database, { timeout_ms: job.busy_timeout_ms, bigint });
    } catch (error) {
        const code = driver.code(error);
        throw new Failure('open', `${job.database}: ${error.message}`, { code });
    }
}
