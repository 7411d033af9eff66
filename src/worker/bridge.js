// JavaScript's side of the border between the Worker's runtime and the core.
//
// Each crossing costs more than what it carries, so a function here does a whole step: it takes and gives text whose lines are
// names and values in turn, never a header at a time. A body that passes is shown to the core, which only seldom changes it.

const COMPLETE = 0, BROKEN = 1, ABANDONED = 2, LATE = 3;

/** Answers up to this size that are no streams are read in one piece; the runtime does that without waking anybody. */
const WHOLE_BYTES = 4 * 1024 * 1024;
/** How much of an error's body is read. */
const ERROR_BYTES = 64 * 1024;
const BLOCK_BYTES = 64 * 1024;
/** How often a stream is looked after, in milliseconds. */
const PULSE = 1000;
/** Pieces that come within CROWDED milliseconds come faster than they are handled: it pays to let them gather for GATHERING. */
const CROWDED = 5, GATHERING = 2;
/** How long a stream is read on whose client has left, in milliseconds: the runtime ends everything a little later. */
const DRAINING = 25_000;
/** The longest time that a timer can have. */
const LONGEST = 2 ** 31 - 1;
/** How often a batch that nobody waits for is tried, and the pause between, in milliseconds. */
const DEFERRED_ATTEMPTS = 3, DEFERRED_PAUSE = 300;

const NOTHING = new Uint8Array(0);

let readFromClient = [], readFromUpstream = [], heldBack = [];

/** Tells which headers the core looks at, and which of an upstream's never reach the client; each list a text of lines. */
export function configure(client, upstream, held) {
  readFromClient = client.split("\n");
  readFromUpstream = upstream.split("\n");
  heldBack = held.split("\n");
}

/** Method, URL and the headers that the core looks at, as lines. */
export function head(request) {
  const { headers } = request;
  let text = `${request.method}\n${request.url}`;
  for (const name of readFromClient) {
    const value = headers.get(name);
    if (value !== null) text += `\n${name}\n${value}`;
  }
  return text;
}

/** Whether a request has a body. */
export function hasBody(request) {
  return request.body !== null;
}

/** Reads the body of a request, at most `limit` bytes; undefined when there are more. */
export async function collect(request, limit) {
  const length = request.headers.get("content-length");
  if (length !== null && +length > limit) return undefined;
  // With a length the runtime itself sees to it that no more comes.
  if (length !== null) return new Uint8Array(await request.arrayBuffer());
  const pieces = [];
  return (await readPieces(request.body, limit, pieces)) ? join(pieces) : undefined;
}

/** Reads until there are more than `limit` bytes, or to the end, which gives true. The rest stays in the stream. */
async function readPieces(stream, limit, pieces) {
  const reader = stream.getReader();
  try {
    for (let total = 0; total <= limit; ) {
      const { value, done } = await reader.read();
      if (done) return true;
      total += value.byteLength;
      pieces.push(value);
    }
    return false;
  } finally {
    reader.releaseLock();
  }
}

function join(pieces) {
  if (pieces.length === 1) return pieces[0];
  const whole = new Uint8Array(pieces.reduce((total, piece) => total + piece.byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}

/** An upstream's answer, and what of its body has been read before it is passed on. */
class Upstream {
  constructor(response, controller, started, limits) {
    this.response = response;
    this.controller = controller;
    /** All of the body. */
    this.bytes = null;
    /** Its beginning, where it is a stream or too large. */
    this.ahead = [];
    /** Why it broke off before that. */
    this.failure = null;
    /** The read that is under way. */
    this.reading = null;
    /** When the first piece, or the next one, and when the last one has to be there. */
    this.due = started + limits.first;
    this.end = started + limits.total;
    this.idle = limits.idle;
  }

  isEventStream() {
    return /^text\/event-stream/i.test(this.response.headers.get("content-type") ?? "");
  }

  /** Reads an answer whole that is no stream; of one that is too large the beginning. */
  async readAhead(streamed) {
    const { body, headers, ok } = this.response;
    if (body !== null && ok && (streamed || this.isEventStream())) return;
    try {
      if (body === null) {
        this.bytes = NOTHING;
      } else if (+(headers.get("content-length") ?? Infinity) <= WHOLE_BYTES) {
        this.bytes = new Uint8Array(await this.response.arrayBuffer());
      } else if (await readPieces(body, ok ? WHOLE_BYTES : ERROR_BYTES, this.ahead)) {
        this.bytes = join(this.ahead);
      }
    } catch (error) {
      this.failure = errorText(error);
    }
    this.touch();
  }

  /** Notes that something has come. */
  touch() {
    this.due = Date.now() + this.idle;
  }

  /** Whether the next piece, or the last one, should have been there. */
  isLate() {
    return Date.now() >= Math.min(this.due, this.end);
  }

  /** The next piece of the body: undefined at the end, null when it is not there after `millis`. A read that is under way then goes on. */
  async next(millis) {
    if (this.reading === null) {
      this.reading = this.read();
      // Whoever waits for it learns of a failure; perhaps nobody does.
      this.reading.catch(() => {});
    }
    const left = Math.min(this.due, this.end) - Date.now();
    const limit = Math.min(millis, Math.max(left, 0));
    let timer;
    const late = limit > LONGEST ? [] : [new Promise(resolve => (timer = setTimeout(resolve, limit, null)))];
    const result = await Promise.race([this.reading, ...late]);
    clearTimeout(timer);
    if (result === null) {
      if (limit < left) return null;
      this.controller.abort();
      throw new Error("timeout");
    }
    this.reading = null;
    this.touch();
    return result.done ? undefined : result.value;
  }

  async read() {
    const reader = this.response.body.getReader();
    try {
      return await reader.read();
    } finally {
      reader.releaseLock();
    }
  }
}

/**
 * Sends a request and waits for the head of the answer, and for the body of one that is no stream, at most `first` milliseconds.
 * `headers` are lines. `body` belongs to JavaScript, since what is WebAssembly's may be used for something else before it is sent.
 * `streamed` tells that the answer is to be passed on as it comes. `first`, `idle` and `total` also limit the rest of the body: until its
 * first piece, between two pieces, and until its last.
 */
export async function dispatch(method, url, headers, body, streamed, first, idle, total) {
  const controller = new AbortController();
  const started = Date.now();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    controller.abort();
  }, Math.min(first, total, LONGEST));
  try {
    const response = await fetch(url, { method, headers: pairs(headers), body, redirect: "manual", signal: controller.signal });
    const upstream = new Upstream(response, controller, started, { first, idle, total });
    await upstream.readAhead(streamed);
    if (late) throw new Error("late");
    return upstream;
  } catch (error) {
    throw new Error(late ? "timeout" : errorText(error));
  } finally {
    clearTimeout(timer);
  }
}

/** Status and headers of an answer as lines: those that the core looks at, all of them when it is an error. */
export function upstreamHead(upstream) {
  const { status, headers } = upstream.response;
  let text = String(status);
  if (status >= 200 && status < 300) {
    for (const name of readFromUpstream) {
      const value = headers.get(name);
      if (value !== null) text += `\n${name}\n${value}`;
    }
  } else {
    for (const [name, value] of headers) text += `\n${name}\n${value}`;
  }
  return text;
}

/** The bytes of an answer that was read whole. */
export function wholeBytes(upstream) {
  return upstream.bytes ?? undefined;
}

/** How many these are; -1 when it was not. */
export function wholeLength(upstream) {
  return upstream.bytes?.byteLength ?? -1;
}

/** Why an answer broke off in its beginning. */
export function failureOf(upstream) {
  return upstream.failure ?? undefined;
}

/** Ends an upstream whose answer nobody wants any more. */
export function abandon(upstream) {
  upstream.controller.abort();
}

/** A response with a body of bytes or a stream. */
export function respond(status, headers, body) {
  const empty = body === undefined || status === 204 || status === 304;
  return new Response(empty ? null : body, { status, headers: pairs(headers) });
}

/**
 * A response with an upstream's answer. Its headers go on as a whole, which is much cheaper than one by one, without those that are
 * held back; `deleted` and `set` are what the core changed.
 */
export function respondFromUpstream(upstream, status, deleted, set, stream) {
  const response = new Response(stream ?? upstream.bytes ?? upstream.response.body, { status, headers: upstream.response.headers });
  const { headers } = response;
  for (const name of heldBack) headers.delete(name);
  if (deleted !== "") for (const name of deleted.split("\n")) headers.delete(name);
  const lines = set.split("\n");
  for (let at = 0; at + 1 < lines.length; at += 2) {
    headers.set(lines[at], lines[at + 1]);
  }
  return response;
}

/** A stream that Rust writes to. */
export function pipe() {
  const { readable, writable } = new IdentityTransformStream();
  return { readable, writer: writable.getWriter() };
}

export function readableOf(pipe) {
  return pipe.readable;
}

export function write(pipe, bytes) {
  return pipe.writer.write(bytes);
}

export function close(pipe) {
  return pipe.writer.close();
}

export function abort(pipe, reason) {
  return pipe.writer.abort(new Error(reason)).catch(() => {});
}

/** The next piece of an answer, for a core that pulls; undefined at the end. */
export async function pull(upstream) {
  if (upstream.ahead.length > 0) return upstream.ahead.shift();
  return upstream.next(Infinity);
}

/** The next piece of a stream's beginning, which stays there as well; undefined at the end, null when it is not there after `millis`. */
export async function pullAhead(upstream, millis) {
  const piece = await upstream.next(millis);
  if (piece) upstream.ahead.push(piece);
  return piece;
}

/**
 * The client's body for a stream: what comes is shown to the watcher, changed if it wants that, and written. `period` is how long
 * it may be quiet before the client gets a sign of life, in milliseconds.
 */
export function stream(upstream, watcher, context, period) {
  const { readable, writable } = new IdentityTransformStream();
  context.waitUntil(pump(upstream, writable, watcher, period));
  return readable;
}

async function pump(upstream, writable, watcher, period) {
  let source = new Unread(upstream);
  const writer = writable.getWriter();
  let ending = COMPLETE, isWriting = false, last = Date.now();
  /** When the client left, where the rest is read all the same. */
  let left = null;
  const leave = () => {
    if (left === null && watcher.readerLeft()) left = Date.now();
    return left !== null;
  };
  const write = async bytes => {
    isWriting = true;
    try {
      await writer.write(bytes);
    } catch (error) {
      if (!leave()) {
        ending = ABANDONED;
        throw error;
      }
    }
    isWriting = false;
  };
  const pass = async piece => {
    last = Date.now();
    upstream.touch();
    const passed = watcher.edit(piece) ?? piece;
    if (passed.byteLength > 0 && left === null) await write(passed);
  };
  const pulse = setInterval(() => {
    if (isWriting) source.hold();
    if (watcher.hasEnded()) source.stop(COMPLETE);
    else if (left !== null && Date.now() - left >= DRAINING) source.stop(ABANDONED);
    else if (Date.now() >= upstream.end) source.stop(LATE);
    else if (isWriting) return;
    else if (upstream.isLate()) source.stop(LATE);
    else if (period > 0 && left === null && Date.now() - last >= period) {
      last = Date.now();
      const heartbeat = watcher.heartbeat();
      if (heartbeat !== undefined) write(heartbeat).catch(() => source.stop(ABANDONED));
    }
  }, PULSE);
  try {
    for (const piece of upstream.ahead) await pass(piece);
    // A read that is under way has to come to its end before anybody else can read.
    if (upstream.reading !== null) {
      const piece = await source.read();
      if (piece !== undefined) await pass(piece);
    }
    if (source.stopped !== null) throw new Error("stopped");
    source = upstream.isEventStream() ? new Gathered(upstream) : new Reader(upstream, upstream.response.body);
    for (let buffer = new ArrayBuffer(BLOCK_BYTES), before = last; ; before = last) {
      const value = await source.read(buffer);
      if (value === undefined) break;
      await pass(value);
      buffer = value.buffer;
      // A whole block has gathered, so the client is slower than the upstream, and what it has not read would fill the memory.
      if (value.byteLength === BLOCK_BYTES) source.hold();
      if (last - before < CROWDED) await scheduler.wait(GATHERING);
    }
  } catch {
    if (ending !== ABANDONED) ending = source.stopped ?? BROKEN;
  }
  clearInterval(pulse);
  if (ending !== COMPLETE) source.stop(ending);
  const epilogue = watcher.end(ending);
  if (ending === ABANDONED || left !== null) return;
  try {
    if (epilogue?.byteLength > 0) await writer.write(epilogue);
    if (ending !== COMPLETE && epilogue === undefined) await writer.abort(new Error("the upstream broke off"));
    else await writer.close();
  } catch {
    // The client has left in this moment.
  }
}

/** Waits for the piece that is being read already. */
class Unread {
  constructor(upstream) {
    this.upstream = upstream;
    this.stopped = null;
  }

  async read() {
    const { value, done } = await this.upstream.reading;
    this.upstream.reading = null;
    return done ? undefined : value;
  }

  hold() {}

  stop(ending) {
    this.stopped ??= ending;
    this.upstream.controller.abort();
  }
}

/** Reads pieces of a body. */
class Reader {
  constructor({ controller }, body) {
    this.reader = body.getReader({ mode: "byob" });
    this.controller = controller;
    /** How it ended, when it was ended from this side. */
    this.stopped = null;
  }

  /** Reads into `buffer`; undefined at the end. */
  async read(buffer) {
    const { value, done } = await this.reader.read(new Uint8Array(buffer));
    return done ? undefined : value;
  }

  /** Lets the upstream wait for the reader from now on. */
  hold() {}

  /** Ends it: the upstream is let go, and a read under way fails. */
  stop(ending) {
    this.stopped ??= ending;
    this.controller.abort();
  }
}

// The beginning of a gzip file whose own name never ends: what decompresses it reads on and on and gives nothing.
const ENDLESS_NAME = new Uint8Array([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0xff]);

/**
 * A reader that gives everything that has come since it was last asked.
 *
 * The runtime's own reader gives one piece of what the upstream sent, however small, and holds nothing back meanwhile; waking
 * JavaScript for each costs much more than what is done with it. A tee does hold what one of its branches has not read yet. So the
 * other branch is drained by the runtime alone, into a decompressor that wakes nobody, and this one gathers. When that ends, the
 * tee goes on as an ordinary one: piece by piece, and no faster than it is read.
 */
class Gathered extends Reader {
  constructor(upstream) {
    const [drained, gathered] = upstream.response.body.tee();
    super(upstream, gathered);
    const sink = new DecompressionStream("gzip");
    const header = sink.writable.getWriter();
    header.write(ENDLESS_NAME).catch(() => {});
    header.releaseLock();
    this.draining = new AbortController();
    drained.pipeTo(sink.writable, { preventClose: true, signal: this.draining.signal }).catch(() => {});
  }

  hold() {
    this.draining.abort();
  }
}

/**
 * Runs statements as one batch of D1. `text` is an array of arrays: SQL and its parameters. The rows come back the same way, as an
 * array for each statement.
 */
export async function batch(database, text) {
  const statements = JSON.parse(text).map(([sql, ...parameters]) => {
    const statement = database.prepare(sql);
    return parameters.length > 0 ? statement.bind(...parameters) : statement;
  });
  const results = await database.batch(statements);
  return JSON.stringify(results.map(result => result.results));
}

/** The same for statements that nobody waits for: what fails in passing is tried again. */
export function batchDeferred(database, text, context) {
  context.waitUntil(tryBatch(database, text));
}

async function tryBatch(database, text) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await batch(database, text);
    } catch (error) {
      if (attempt === DEFERRED_ATTEMPTS) return console.error(`a deferred batch is lost: ${errorText(error)}`);
      await scheduler.wait(DEFERRED_PAUSE * attempt);
    }
  }
}

/** The text of an error. */
export function errorText(error) {
  return String(error?.message ?? error);
}

export function sleep(millis) {
  return scheduler.wait(millis);
}

export function fillRandom(bytes) {
  crypto.getRandomValues(bytes);
}

export function now() {
  return Date.now();
}

export function variable(environment, name) {
  const value = environment[name];
  return typeof value === "string" ? value : undefined;
}

export function binding(environment, name) {
  return environment[name];
}

export function waitUntil(context, promise) {
  context.waitUntil(promise);
}

export function log(level, text) {
  console[level](text);
}

function pairs(lines) {
  const headers = {};
  if (lines === "") return headers;
  const parts = lines.split("\n");
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const name = parts[at];
    headers[name] = name in headers ? `${headers[name]}, ${parts[at + 1]}` : parts[at + 1];
  }
  return headers;
}
