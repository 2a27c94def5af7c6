/** The scan of an answer takes what JSON.parse takes, and finds the same members, whatever a byte is changed to. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {scanMembers} from "../../server/json/memberScan.ts";
import {mayConfuseKeys} from "../support/documents/confusedKeys.ts";
import {propertyRuns} from "../support/soak.ts";

const ALL = {has: () => true};

/** @returns the members' values; undefined if it is no JSON object */
function scan(text: Buffer): Record<string, unknown> | undefined {
  try {
    const work = scanMembers(text, ALL);
    for (;;) {
      const {done, value} = work.next();
      if (done !== true) continue;
      const members = [...value].map(([name, bytes]) => [name, JSON.parse(bytes.toString())]);
      return Object.fromEntries(members);
    }
  } catch (error) {
    assert.ok(error instanceof SyntaxError, String(error));
    return undefined;
  }
}

function parse(text: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(text));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? {...value} : undefined;
  } catch {
    return undefined;
  }
}

const BYTES = Buffer.from('{}[]:,"\\ \n\t019-+.eEutrfalsn/b\u0001\u00e9');

test("a scanned text has the members that JSON.parse reads, and is refused if JSON.parse refuses it", () => {
  let refused = 0;
  const at = fc.nat(2000);
  const change = fc.record({
    at,
    remove: fc.nat(2),
    insert: fc.array(fc.constantFrom(...BYTES), {maxLength: 3}),
  });
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({unit: "binary"}), fc.jsonValue({maxDepth: 3})),
      fc.constantFrom(undefined, 1, "\t"),
      fc.array(change, {maxLength: 2}),
      (value, indent, changes) => {
        let text = Buffer.from(JSON.stringify(value, null, indent));
        for (const {at, remove, insert} of changes) {
          const start = at % (text.length + 1);
          text = Buffer.concat([text.subarray(0, start), Buffer.from(insert), text.subarray(start + remove)]);
        }
        if (mayConfuseKeys(text.toString())) return;
        const expected = parse(text);
        if (expected === undefined) refused++;
        assert.deepEqual(scan(text), expected, text.toString());
      },
    ),
    {numRuns: propertyRuns(1500)},
  );
  assert.ok(refused > 100, `${refused} refused`);
});

test("long strings, spaces and lists are scanned in steps", () => {
  const long = 300_000;
  for (const [value, least] of [
    [`"${"x".repeat(long)}"`, 4],
    [`[${"1,".repeat(long)}1]`, 8],
    [`[${" ".repeat(long)}]`, 4],
    [`"${"\\u00e9".repeat(long / 6)}"`, 4],
  ] as const) {
    const work = scanMembers(Buffer.from(`{"result":${value}}`), ALL);
    let steps = 1;
    let step = work.next();
    for (; step.done !== true; step = work.next()) steps++;
    assert.ok(steps >= least, `${steps} steps`);
    assert.equal(step.value.get("result")?.toString(), value);
  }
});

test("of an answer, only the members that are read are kept, of two with one name the last", () => {
  const others = Array.from({length: 1000}, (_, at) => `"${at}":[${at}]`);
  const text = Buffer.from(`{"id":1,${others},"i\\u0064": 2 ,"result":{"id":3}}`);
  const {done, value} = scanMembers(text, new Set(["id", "result", "error"])).next();
  assert.equal(done, true);
  const members = [...(value as ReadonlyMap<string, Buffer>)].map(([name, own]) => [name, own.toString()]);
  assert.deepEqual(members, [
    ["id", " 2 "],
    ["result", '{"id":3}'],
  ]);
});
