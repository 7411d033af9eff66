// The same cases as WebAssembly in Node: `node wasm.mjs MODULE [SECONDS]`, where MODULE is what wasm-bindgen has made for Node.
import { pathToFileURL } from "node:url";

const { Cases } = await import(pathToFileURL(process.argv[2]).href);
const seconds = Number(process.argv[3] ?? 0.5);
const cases = new Cases();
let slowest = { rate: Infinity };
for (let index = 0; index < cases.count(); index++) {
  const [name, units] = [cases.name(index), cases.units(index)];
  cases.run(index, 20);
  // The best of many short slices, since others share the machine.
  let rate = 0;
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
    const started = performance.now();
    let times = 0;
    for (; performance.now() - started < 2; times++) cases.run(index, 1);
    rate = Math.max(rate, (times * units * 1000) / (performance.now() - started));
  }
  console.log(`convert.wasm.${name} per_second=${rate.toFixed(0)}`);
  if (name.startsWith("text.") && rate < slowest.rate) slowest = { rate, name };
}
console.log(`convert.wasm.slowest_text ${slowest.name} per_second=${slowest.rate.toFixed(0)}`);
