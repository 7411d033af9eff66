// Keeps the instances of WebAssembly that are made, to reach into the last of them.
const { Instance } = WebAssembly;
export const instances = [];

WebAssembly.Instance = class extends Instance {
  constructor(...parameters) {
    super(...parameters);
    instances.push(this);
  }
};
