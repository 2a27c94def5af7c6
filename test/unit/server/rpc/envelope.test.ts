import assert from "node:assert/strict";
import {test} from "node:test";
import {MAX_DEPTH} from "../../../../server/json/bodyScan.ts";
import {MAX_ID_CHARACTERS, parseEnvelope} from "../../../../server/rpc/envelope.ts";
import {RpcCode, RpcError} from "../../../../server/rpc/rpcError.ts";
import {finishWork} from "../../../support/http/wholeWork.ts";

function parse(body: string | Buffer, batchCalls = 1000, members = 40_000, fields = 18_000) {
  return finishWork(parseEnvelope(Buffer.from(body as string), {batchCalls, members, fields}));
}

function parseOne(body: string) {
  const call = parse(body).calls[0];
  assert.ok(call !== undefined);
  return call;
}

function hasCode(code: number) {
  return (error: unknown) => error instanceof RpcError && error.code === code;
}

test("a body that is not JSON, not UTF-8 or starts with a byte order mark is a parse error", () => {
  const isParseError = hasCode(RpcCode.PARSE_ERROR);
  for (const body of ["", " ", "{", "[1,]", "{'a':1}", "nul", '{"a":1}x'])
    assert.throws(() => parse(body), isParseError);
  assert.throws(() => parse(Buffer.from([0x22, 0xff, 0x22])), isParseError);
  assert.throws(() => parse(Buffer.from([0x22, 0xc0, 0x80, 0x22])), isParseError);
  assert.throws(() => parse(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), isParseError);
  assert.throws(() => parse(Buffer.from("\ufeff{}")), isParseError);
});

test("64 levels of nesting are read and 65 are a parse error", () => {
  const nested = (levels: number) => `${"[".repeat(levels - 1)}{}${"]".repeat(levels - 1)}`;
  assert.equal(parse(nested(MAX_DEPTH)).calls.length, 1);
  assert.throws(() => parse(nested(MAX_DEPTH + 1)), hasCode(RpcCode.PARSE_ERROR));
  assert.throws(() => parse("[".repeat(1_000_000)), hasCode(RpcCode.PARSE_ERROR));
});

test("an id that is a string, a safe integer or null comes back, alone and in a batch", () => {
  const ids = [
    "null",
    "1",
    "0",
    "-1",
    "9007199254740991",
    "-9007199254740991",
    '"a"',
    '"1"',
    '""',
    '"\u{1f600}\u00e9"',
  ];
  for (const id of ids) {
    assert.equal(parseOne(`{"jsonrpc":"2.0","id":${id},"method":"m"}`).idText, id);
    const batch = parse(`[{"jsonrpc":"2.0","id":7,"method":"m"},{"jsonrpc":"2.0","id":${id},"method":"m"}]`);
    assert.deepEqual(
      batch.calls.map(call => call.idText),
      ["7", id],
    );
  }
  const escaped = parseOne('{"jsonrpc":"2.0","\\u0069d":"\\u00e9\\n\\"","method":"m"}').idText as string;
  assert.equal(JSON.parse(escaped), '\u00e9\n"');
});

test("a name of the envelope in another case is refused by name, beside the right one too", () => {
  for (const [fields, idText, message] of [
    ['"ID":1', "null", /expected the name id, got ID$/],
    ['"id":1,"Params":[]', "1", /expected the name params, got Params$/],
    ['"id":1,"METHOD":"n"', "1", /expected the name method, got METHOD$/],
    ['"id":1,"jsonRPC":"2.0"', "1", /expected the name jsonrpc, got jsonRPC$/],
  ] as const) {
    const call = parseOne(`{"jsonrpc":"2.0","method":"m",${fields}}`);
    assert.deepEqual([call.idText, call.error?.code], [idText, RpcCode.INVALID_REQUEST]);
    assert.match(String(call.error?.message), message);
  }
  assert.equal(parseOne('{"jsonrpc":"2.0","id":1,"method":"m","Id":null,"meta":1}').error, undefined);
});

test("any other id makes an invalid request with id null, that says what was expected and what came", () => {
  const cases: [string, RegExp][] = [
    ["true", /expected id to be a string, null or an integer of at most 9007199254740991, got true$/],
    ["1.5", /got 1\.5$/],
    ["1e400", /got Infinity$/],
    ["9007199254740992", /got 9007199254740992$/],
    ["-9007199254740993", /got -9007199254740992$/],
    ["7".repeat(1000), /got Infinity$/],
    ["[]", /got an array$/],
    ['{"id":1}', /got an object$/],
    ['"\\ud800"', /expected id to be well-formed Unicode, got a lone surrogate$/],
  ];
  for (const [id, message] of cases) {
    const [call, next] = parse(
      `[{"jsonrpc":"2.0","id":${id},"method":"m"},{"jsonrpc":"2.0","id":2,"method":"m"}]`,
    ).calls;
    assert.equal(call?.error?.code, RpcCode.INVALID_REQUEST, id);
    assert.match(call.error.message, message);
    assert.equal(call.idText, "null");
    assert.deepEqual([next?.idText, next?.error], ["2", undefined]);
  }
});

test("what is no request is invalid, with its id where it has a good one, and is never a notification", () => {
  const cases: [string, string, RegExp][] = [
    ["1", "null", /expected a request object, got 1$/],
    ['"x"', "null", /expected a request object, got text$/],
    ["null", "null", /expected a request object, got null$/],
    ["{}", "null", /expected jsonrpc to be "2.0", got nothing$/],
    ['{"id":5}', "5", /expected jsonrpc to be "2.0", got nothing$/],
    ['{"jsonrpc":"1.0","method":"m","id":5}', "5", /expected jsonrpc to be "2.0", got other text$/],
    ['{"jsonrpc":2.0,"method":"m","id":5}', "5", /expected jsonrpc to be "2.0", got 2$/],
    ['{"jsonrpc":"2.0","method":1,"id":"a"}', '"a"', /expected method to be a string, got 1$/],
    ['{"jsonrpc":"2.0","id":5}', "5", /expected method to be a string, got nothing$/],
    [
      '{"jsonrpc":"2.0","method":"m","params":"bar","id":5}',
      "5",
      /expected params to be an array, got text$/,
    ],
    ['{"jsonrpc":"2.0","method":[]}', "null", /expected method to be a string, got an array$/],
  ];
  for (const [body, idText, message] of cases) {
    const call = parseOne(body);
    assert.match(call.error?.message ?? "", message);
    assert.equal(call.error?.code, RpcCode.INVALID_REQUEST, body);
    assert.equal(call.idText, idText, body);
  }
  const batch = parse("[1,[],{}]");
  assert.equal(batch.isBatch, true);
  assert.ok(batch.calls.every(call => call.error?.code === RpcCode.INVALID_REQUEST));
});

test("of duplicate keys the last counts, and __proto__ is a field like any other", () => {
  const twice = parseOne(
    '{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b","params":[1],"params":[2]}',
  );
  assert.deepEqual({...twice}, {idText: "2", method: "b", params: [2], error: undefined});
  const inherited = '{"__proto__":{"jsonrpc":"2.0","id":1,"method":"m","params":[]}}';
  assert.equal(parseOne(inherited).error?.code, RpcCode.INVALID_REQUEST);
  const call = parseOne(
    '{"__proto__":{"id":9},"jsonrpc":"2.0","method":"m","constructor":{"prototype":{"id":8}}}',
  );
  assert.equal(call.error, undefined);
  assert.equal(call.idText, undefined);
  assert.equal(({} as Record<string, unknown>).id, undefined);
});

test("params left out, or null, are an empty array, and unknown fields are ignored", () => {
  assert.deepEqual(parseOne('{"jsonrpc":"2.0","id":1,"method":"m","extra":{"a":1}}').params, []);
  assert.deepEqual(parseOne('{"jsonrpc":"2.0","id":1,"method":"m","params":null}').params, []);
  assert.deepEqual(parseOne('{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}').params, {a: 1});
});

function isLimit(limit: number, got: number, words: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof RpcError);
    assert.equal(error.code, RpcCode.LIMIT_EXCEEDED);
    assert.deepEqual(error.data, {limit, got});
    assert.match(error.message, words);
    return true;
  };
}

test("a body of too many members is told by its limit and their number, before it is parsed", () => {
  assert.equal(parse('{"a":1,"b":[1,2]}', 1000, 4).calls.length, 1);
  assert.throws(
    () => parse('{"a":1,"b":[1,2,3]}', 1000, 4),
    isLimit(4, 5, /array elements and object fields/),
  );
  assert.throws(() => parse("{,,,,", 1000, 4), isLimit(4, 5, /members/));
});

test("a body of too many fields is told by its limit and their number, before it is parsed", () => {
  const body = '{"a":1,"b":[{"c":[":"]},2]}';
  assert.equal(parse(body, 1000, 10, 5).calls.length, 1);
  assert.throws(() => parse(body, 1000, 10, 4), isLimit(4, 5, /at most 4 object fields and objects, got 5/));
  assert.throws(() => parse("{::::", 1000, 10, 4), isLimit(4, 5, /object fields/));
  assert.throws(() => parse(body, 1000, 5, 2), isLimit(5, 6, /array elements and object fields/));
});

test("numbers that are no plain integers may have as many characters as a body has members", () => {
  assert.equal(parse('{"id":-1.5e7,"params":[1234567890123456]}', 1000, 22).calls.length, 1);
  const body = '{"id":-1.5e7,"params":[12345678901234567]}';
  assert.throws(() => parse(body, 1000, 22), isLimit(22, 23, /characters in numbers/));
  assert.equal(parse(`{"id":${"7".repeat(40_000)}}`).calls.length, 1);
  assert.throws(
    () => parse(`{"id":${"7".repeat(40_001)}}`),
    isLimit(40_000, 40_001, /characters in numbers/),
  );
});

test("an id of more than 256 characters is a limit under id null", () => {
  const read = (length: number) => parseOne(`{"jsonrpc":"2.0","id":"${"x".repeat(length)}","method":"m"}`);
  assert.equal(read(MAX_ID_CHARACTERS).error, undefined);
  const long = read(1000);
  assert.equal(long.idText, "null");
  isLimit(MAX_ID_CHARACTERS, 1000, /an id: expected at most 256 characters/)(long.error);
});

test("text beyond ASCII is read as it was written", () => {
  for (const text of ["\u00e9", "\u0e01", "\u{1f600}", "a\u00e9\u0e01\u{1f600}\ufeff\u2028"]) {
    const method = text.repeat(10_000);
    assert.equal(parseOne(JSON.stringify({jsonrpc: "2.0", method})).method, method);
  }
});
