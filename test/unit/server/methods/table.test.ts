/** One method, one home: nothing outside server/methods knows a method by its name. */
import assert from "node:assert/strict";
import {readdirSync, readFileSync} from "node:fs";
import {dirname} from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {findMethod, METHOD_NAMES, METHODS} from "../../../../server/methods/table.ts";

const SERVER = dirname(fileURLToPath(import.meta.resolve("#package/server/service.ts")));

test("no method is named outside of server/methods", () => {
  const files = readdirSync(SERVER, {recursive: true, encoding: "utf8"}).filter(
    path => path.endsWith(".ts") && !path.startsWith("methods"),
  );
  assert.ok(files.length > 30, `${files.length} files`);
  for (const path of files) {
    const text = readFileSync(`${SERVER}/${path}`, "utf8");
    for (const name of METHOD_NAMES) assert.ok(!text.includes(name), `${path} names ${name}`);
  }
});

test("every method has a name of its own, a summary, and required parameters before others", () => {
  assert.equal(new Set(METHOD_NAMES).size, METHODS.length);
  for (const method of METHODS) {
    assert.equal(findMethod(method.name), method);
    assert.match(method.summary, /^[A-Z].*\.$/);
    const required = [...method.params].map(param => param.required);
    assert.deepEqual(required, [...required].sort().reverse(), method.name);
  }
});
