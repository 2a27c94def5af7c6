/** A long body that is parsed in pieces against JSON.parse of the whole: the same value, in the same order, and the same refusals. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {BodyScan, MAX_DEPTH} from "../../server/json/bodyScan.ts";
import {parseInSteps} from "../../server/json/stepParser.ts";
import {mayConfuseKeys} from "../support/documents/confusedKeys.ts";
import {finishWork} from "../support/http/wholeWork.ts";
import {propertyRuns} from "../support/soak.ts";

const space = fc.string({unit: fc.constantFrom(" ", "\n", "\t", "\r"), maxLength: 30});
const word = fc.oneof(
  fc.constantFrom("a", "b", "1", "10", "__proto__", "constructor", "length", ""),
  fc.string({unit: "binary", maxLength: 40}),
);
const part = fc.constantFrom("\\\\", '\\"', "\\n", "\\u0e01", "\\ud83d", "\\ude00", "x", "é", "\u{1f600}");
/** JSON text of a string, with as many escapes as it can have. The longest ones are parsed in parts. */
const stringText = fc.oneof(
  {weight: 10, arbitrary: word.map(text => JSON.stringify(text))},
  {weight: 10, arbitrary: fc.array(part, {maxLength: 60}).map(parts => `"${parts.join("")}"`)},
  {
    weight: 1,
    arbitrary: fc
      .array(part, {minLength: 200, maxLength: 300, size: "max"})
      .map(parts => `"${parts.join("")}"`),
  },
);
const scalarText = fc.oneof(
  stringText,
  fc.constantFrom("0", "-0", "1e5", "12345678901234567890", "1.50", "true", "false", "null"),
);

const {json} = fc.letrec<{json: string}>(tie => {
  const spaced = fc.tuple(space, tie("json"), space).map(parts => parts.join(""));
  const field = fc
    .tuple(space, stringText, space, spaced)
    .map(([a, key, b, value]) => `${a}${key}${b}:${value}`);
  return {
    json: fc.oneof(
      {maxDepth: 6, withCrossShrink: true},
      scalarText,
      fc.array(spaced, {maxLength: 6}).map(list => `[${list.join()}]`),
      fc.array(field, {maxLength: 6}).map(list => `{${list.join()}}`),
      fc.tuple(space, space).map(([a, b]) => `[${a}${b}]`),
      fc.tuple(space, space).map(([a, b]) => `{${a}${b}}`),
    ),
  };
});

/** Text with a few characters changed, left out or put in: most is not JSON any more. */
const broken = fc
  .tuple(
    json,
    fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...'[]{},:"\\ 1-nul\u00a0\ufeffé\u0001')), {
      maxLength: 3,
    }),
  )
  .map(([text, edits]) =>
    edits.reduce((edited, [place, length, put]) => {
      const at = place % (edited.length + 1);
      return edited.slice(0, at) + put + edited.slice(at + length);
    }, text),
  );

const size = fc.record({bytes: fc.integer({min: 1, max: 60}), tokens: fc.integer({min: 1, max: 8})});

/** JSON text of the value in its own order, with -0 and __proto__. */
function show(parse: () => unknown): string {
  let value: unknown;
  try {
    value = parse();
  } catch (error) {
    assert.ok(error instanceof SyntaxError);
    return "not JSON";
  }
  return JSON.stringify(value, (_, one) => (Object.is(one, -0) ? "minus zero" : one));
}

function checkLaw(text: string, step: number, size: {readonly bytes: number; readonly tokens: number}): void {
  if (mayConfuseKeys(text)) return;
  const body = Buffer.from(text);
  const scan = new BodyScan(body);
  while (!scan.read(step));
  if (scan.depth > MAX_DEPTH) return;
  const whole = new BodyScan(body);
  whole.read(body.length);
  const {depth, members, fields, elements, oddCharacters} = whole;
  assert.deepEqual(
    {depth, members, fields, elements, oddCharacters},
    {
      ...{depth: scan.depth, members: scan.members, fields: scan.fields},
      ...{elements: scan.elements, oddCharacters: scan.oddCharacters},
    },
  );
  assert.equal(
    show(() => finishWork(parseInSteps(body, size))),
    show(() => JSON.parse(body.toString())),
  );
}

test("a body that is scanned and parsed in pieces is what JSON.parse makes of the whole", () => {
  const step = fc.integer({min: 1, max: 600});
  fc.assert(fc.property(json, step, size, checkLaw), {numRuns: propertyRuns(2000)});
});

test("a body that is no JSON is refused in pieces as JSON.parse refuses the whole", () => {
  const step = fc.integer({min: 1, max: 600});
  fc.assert(fc.property(broken, step, size, checkLaw), {numRuns: propertyRuns(4000)});
});
