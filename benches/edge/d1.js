// D1's protocol on the SQLite of a Durable Object, for a workerd without wrangler. The binding in front of it is the runtime's
// own, so the Worker sees the real interface.
import { DurableObject } from "cloudflare:workers";

export default {
  fetch(request, env) {
    return env.OBJECT.get(env.OBJECT.idFromName("database")).fetch(request);
  },
};

export class Database extends DurableObject {
  async fetch(request) {
    const body = await request.json();
    const queries = Array.isArray(body) ? body : [body];
    try {
      // A batch is one transaction.
      const results = this.ctx.storage.transactionSync(() => queries.map(query => this.run(query, request.url)));
      return Response.json(Array.isArray(body) ? results : results[0]);
    } catch (error) {
      return Response.json({ success: false, error: String(error.message ?? error) }, { status: 500 });
    }
  }

  run({ sql, params }, url) {
    const cursor = this.ctx.storage.sql.exec(sql, ...(params ?? []));
    const columns = cursor.columnNames;
    const rows = [...cursor.raw()];
    const results = url.includes("ROWS_AND_COLUMNS")
      ? { columns, rows }
      : rows.map(row => Object.fromEntries(columns.map((name, index) => [name, row[index]])));
    return { success: true, results, meta: { duration: 0, changes: 0, last_row_id: 0, rows_read: 0, rows_written: 0 } };
  }
}
