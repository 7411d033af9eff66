// Runs SQL text, one statement after the other.
export default {
  async fetch(request, env) {
    const text = (await request.text()).replace(/^\s*--.*$/gm, "");
    const statements = text.split(/;\s*$/m).map(statement => statement.trim()).filter(statement => statement !== "");
    await env.DB.batch(statements.map(statement => env.DB.prepare(statement)));
    return new Response(`${statements.length}\n`);
  },
};
