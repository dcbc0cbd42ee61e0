/* Queries of the worker itself: rows as arrays, numbers exact. A failure names the query. */
import { Failure } from './failure.mjs';

export function quote(name) {
    return `"${name.replaceAll('"', '""')}"`;
}

export class Query {
    constructor(driver, connection, phase) {
        this.driver = driver;
        this.connection = connection;
        this.phase = phase;
    }

    #failure(sql, error) {
        const code = this.driver.code(error);
        return new Failure(this.phase, `${sql}: ${error.message}`, { code });
    }

    async rows(sql) {
        try {
            const statement = await this.connection.prepare(sql, { rows: true, exact: true });
            return await statement.native.all();
        } catch (error) {
            throw this.#failure(sql, error);
        }
    }

    /* As rows(), but an engine that does not know the PRAGMA answers with no rows. */
    async known(sql) {
        try {
            const statement = await this.connection.prepare(sql, { rows: true, exact: true });
            return await statement.native.all();
        } catch {
            return [];
        }
    }

    /* Row by row: a table may be larger than memory. */
    async each(sql, take) {
        try {
            const statement = await this.connection.prepare(sql, { rows: true, exact: true });
            if (this.driver.synchronous) {
                for (const row of statement.native.iterate()) {
                    take(row);
                }
            } else {
                for await (const row of statement.native.iterate()) {
                    take(row);
                }
            }
        } catch (error) {
            throw this.#failure(sql, error);
        }
    }

    /* Names by their bytes; the old name of the schema is known to every version. */
    async tables() {
        const rows = await this.rows("SELECT name FROM sqlite_master WHERE type = 'table' " +
                                     "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name");
        /* Shadow tables of virtual ones are the engine's own business. */
        const shadows = new Set((await this.known('PRAGMA table_list'))
            .filter(([schema, , type]) => schema === 'main' && type === 'shadow')
            .map(([, name]) => name));
        return rows.map(([name]) => name).filter((name) => !shadows.has(name));
    }
}
