// The reference: a Worker that only forwards.
export default {
  fetch(request, env) {
    const { pathname, search } = new URL(request.url);
    return fetch(env.UPSTREAM + pathname + search, request);
  },
};
