"use strict";
/* node node.js OUT CALL JSON SCRIPT...: load scripts as a page does, and write what CALL(...JSON) returns. */
const fs = require("node:fs");
const vm = require("node:vm");
const [out, call, json, ...scripts] = process.argv.slice(2);
for (const script of scripts) vm.runInThisContext(fs.readFileSync(script, "utf8"), { filename: script });
Promise.resolve(vm.runInThisContext(call)(...JSON.parse(fs.readFileSync(json, "utf8")))).then((found) =>
  fs.writeFileSync(out, JSON.stringify(found)));
