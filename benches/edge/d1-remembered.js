// A D1 that costs nothing: reads are answered from memory once they have been made, writes of the hot path are not made at all.
// It takes D1's share out of a measurement and leaves everything else in.
import makeBinding from "cloudflare-internal:d1-api";

class Statement {
  constructor(sql, parameters) {
    this.sql = sql;
    this.parameters = parameters;
  }

  bind(...parameters) {
    return new Statement(this.sql, parameters);
  }
}

class Remembered {
  constructor(database) {
    this.database = database;
    this.known = new Map();
  }

  prepare(sql) {
    return new Statement(sql, []);
  }

  async batch(statements) {
    if (statements.every(({ sql }) => sql.startsWith("INSERT INTO usage"))) return statements.map(() => ({ results: [] }));
    const key = statements.map(({ sql, parameters }) => sql + parameters.join()).join();
    const known = this.known.get(key);
    if (known) return known;
    const real = statements.map(({ sql, parameters }) => {
      const statement = this.database.prepare(sql);
      return parameters.length > 0 ? statement.bind(...parameters) : statement;
    });
    const results = await this.database.batch(real);
    // What the configuration writes is not to be remembered.
    if (statements.every(({ sql }) => sql.startsWith("SELECT"))) this.known.set(key, results);
    else this.known.clear();
    return results;
  }
}

export default env =>
  new Remembered(
    makeBinding({ fetcher: { fetch: (input, init) => env.OBJECT.get(env.OBJECT.idFromName("database")).fetch(input, init) } }),
  );
