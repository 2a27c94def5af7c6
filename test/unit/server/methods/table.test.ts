/** One method, one home: nothing outside server/methods knows a method by its name. */
import assert from "node:assert/strict";
import {readdirSync, readFileSync} from "node:fs";
import {dirname} from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {MethodTable} from "../../../../server/methods/table.ts";

const WITH_NAMESPACE = new MethodTable("linea");
const SERVER = dirname(fileURLToPath(import.meta.resolve("#package/server/rpcService.ts")));

test("no method is named outside of server/methods", () => {
  const files = readdirSync(SERVER, {recursive: true, encoding: "utf8"}).filter(
    path => path.endsWith(".ts") && !path.startsWith("methods"),
  );
  assert.ok(files.length > 30, `${files.length} files`);
  for (const path of files) {
    const text = readFileSync(`${SERVER}/${path}`, "utf8");
    for (const name of WITH_NAMESPACE.names) assert.ok(!text.includes(name), `${path} names ${name}`);
  }
});

test("every method has a name of its own, a summary, and required parameters before others", () => {
  const {methods, names} = WITH_NAMESPACE;
  assert.equal(new Set(names).size, methods.length);
  for (const method of methods) {
    assert.equal(WITH_NAMESPACE.find(method.name), method);
    assert.match(method.summary, /^[A-Z].*\.$/);
    const required = method.params.list.map(param => param.required);
    assert.deepEqual(required, [...required].sort().reverse(), method.name);
  }
});

test("a namespace adds two methods under its name and the block number, and nothing else", () => {
  const plain = new MethodTable();
  const added = WITH_NAMESPACE.names.filter(name => plain.find(name) === undefined);
  assert.deepEqual(added, ["linea_getProof", "linea_estimateGas", "rollup_getZkEVMBlockNumber"]);
  assert.equal(WITH_NAMESPACE.methods.length, plain.methods.length + added.length);
  assert.equal(new MethodTable("zk9").find("linea_getProof"), undefined);
});
