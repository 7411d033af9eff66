// The Worker, but a request to /suite/trap traps within WebAssembly while the gateway reads its URL, as a panic would: the stack
// is gone, nothing was dropped, whatever was borrowed stays so.
import { instances } from "./instances.mjs";
import Gateway from "./index.js";

export default {
  fetch(request, environment, context) {
    const gateway = new Gateway(context, environment);
    if (new URL(request.url).pathname !== "/suite/trap") return gateway.fetch(request);
    return gateway.fetch({
      method: "GET",
      headers: request.headers,
      body: null,
      // A pointer to where there is no memory: reading it traps.
      get url() {
        try {
          instances.at(-1).exports.watcher_end(0, -8, 0);
        } catch (error) {
          console.error(`the suite's trap: ${error.name}`);
          throw error;
        }
      },
    });
  },
};
