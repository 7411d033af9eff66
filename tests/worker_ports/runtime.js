// What the Workers runtime has and Node has not, and fakes of what an environment binds.
import { createServer } from "node:http";
import { scheduler } from "node:timers/promises";

globalThis.scheduler ??= scheduler;

/** The context of a request, which keeps what was handed to it. */
export function context() {
  const promises = [];
  return { promises, waitUntil: promise => promises.push(promise) };
}

export function settled(context) {
  return Promise.all(context.promises);
}

/** An environment with a database that answers each statement with one row: what it was asked. */
export function environment(failures) {
  let left = failures;
  const batches = [];
  const statement = (sql, parameters) => ({ sql, parameters, bind: (...values) => statement(sql, values) });
  return {
    TEXT: "a text",
    NUMBER: 7,
    batches,
    DB: {
      prepare: sql => statement(sql, []),
      async batch(statements) {
        if (left-- > 0) throw new Error("D1_ERROR: the database is overloaded");
        batches.push(statements.map(({ sql }) => sql));
        return statements.map(({ sql, parameters }) => ({ results: [{ sql, second: parameters.length, ...parameters }] }));
      },
    },
  };
}

export function batchesOf(environment) {
  return environment.batches.length;
}

/** A vendor; gives its port. `/silent` never answers, `/cut` breaks off. */
export function vendor() {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    if (request.url === "/silent") return;
    response.setHeader("retry-after", "7");
    if (request.url === "/cut") {
      response.setHeader("content-length", "100");
      response.write("half");
      return setTimeout(() => response.destroy(), 20);
    }
    response.writeHead(request.url === "/limited" ? 429 : 200, { "x-request-id": "req_1" });
    response.end(JSON.stringify({ method: request.method, url: request.url, key: request.headers["x-api-key"], body }));
  });
  server.unref();
  return new Promise(resolve => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));
}
