// The runtime's D1 client, talking to the Durable Object without a service in between.
import makeBinding from "cloudflare-internal:d1-api";

export default env =>
  makeBinding({ fetcher: { fetch: (input, init) => env.OBJECT.get(env.OBJECT.idFromName("database")).fetch(input, init) } });
