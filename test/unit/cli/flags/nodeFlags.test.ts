import assert from "node:assert/strict";
import {test} from "node:test";
import {createNodeFlags, type NodeOptions, readNodes} from "../../../../cli/flags/nodeFlags.ts";
import {assertUsageError, readFlags} from "../../../support/run/flagReading.ts";

const MIB = 2 ** 20;

interface Read {
  readonly l2: NodeOptions | undefined;
  readonly l1: NodeOptions | undefined;
}

function read(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  said?: string[],
): Read {
  return readFlags(
    {...createNodeFlags("l2"), ...createNodeFlags("l1")},
    (values, self) => ({l2: readNodes(values, "l2", self), l1: readNodes(values, "l1", self)}),
    args,
    variables,
    said,
  );
}

function assertRefused(args: readonly string[], message: RegExp, variables = {}): void {
  const said: string[] = [];
  assertUsageError(() => read(args, variables, said), message, said);
}

test("without URLs there are no nodes", () => {
  assert.deepEqual(read([]), {l2: undefined, l1: undefined});
});

test("URLs are repeated or have commas between, and ws ones are for subscriptions", () => {
  const {l2, l1} = read([
    ...["--l2", "http://a:8545", "--l2", "https://user:key@b/v3/key?x=1, ws://a:8546,wss://b/"],
    ...["--l2-header", "X-Api-Key: a, b", "--l2-header", "authority:\t x"],
    ...["--l1", "http://c"],
  ]);
  assert.deepEqual(l2, {
    urls: ["http://a:8545/", "https://user:key@b/v3/key?x=1"],
    subscriptions: ["ws://a:8546/", "wss://b/"],
    headers: {"x-api-key": "a, b", authority: "x"},
    timeoutMs: 30_000,
    maxAnswerBytes: 128 * MIB,
  });
  assert.deepEqual(l1, {
    urls: ["http://c/"],
    subscriptions: [],
    headers: {},
    timeoutMs: 30_000,
    maxAnswerBytes: 4 * MIB,
  });
  assert.deepEqual(structuredClone(l2), l2);
});

test("variables hold the same, headers one a line, and flags come before them", () => {
  const variables = {
    PROOFD_L2: "http://a,http://b",
    PROOFD_L2_HEADER: "authorization: Bearer x\nx-other: y",
    PROOFD_L1: "http://c",
  };
  const {l2, l1} = read(["--l1", "http://d"], variables);
  assert.deepEqual(l2?.urls, ["http://a/", "http://b/"]);
  assert.deepEqual(l2.headers, {authorization: "Bearer x", "x-other": "y"});
  assert.deepEqual(l1?.urls, ["http://d/"]);
});

test("a bad URL is refused by its number and never shown", () => {
  const expected = /expected http, https, ws or wss, a host, and no #$/;
  assertRefused(["--l2", "secret"], /^error: --l2, URL 1 of 1: /);
  assertRefused(["--l2", "secret"], expected);
  assertRefused(["--l2", "http://a,ftp://secret"], /URL 2 of 2: /);
  assertRefused(["--l2", "http://a", "--l2", "http:///?secret"], /URL 2 of 2: /);
  assertRefused(["--l2", "http://a/#secret"], expected);
  assertRefused(["--l2", "http://secret%zz@a/"], expected);
  assertRefused(["--l2", "http://a,"], /URL 2 of 2: /);
  assertRefused([], /^error: variable PROOFD_L2, URL 2 of 2: /, {
    PROOFD_L2: "http://a,secret",
  });
  assertRefused(["--l1", "ws://secret"], /^error: --l1, URL 1 of 1: expected http or https, a host/);
  assertRefused(
    ["--l2", "http://a/secret,http://b,http://a/secret"],
    /each URL once, got one twice, as numbers 1 and 3$/,
  );
  assertRefused(["--l2", "ws://secret"], /^error: --l2: expected an http or https URL, got only ws and wss/);
  const many = Array.from({length: 17}, (_, at) => `http://secret${at}`).join(",");
  assertRefused(["--l2", many], /: expected at most 16 URLs, got 17$/);
});

test("a bad header is refused by its number or name and never shown", () => {
  const withHeaders = (...texts: string[]) => [
    ...["--l2", "http://a"],
    ...texts.flatMap(text => ["--l2-header", text]),
  ];
  const expected = /^error: --l2-header, header \d of \d: expected "Name: value" in printable ASCII$/;
  for (const bad of ["secret", "x-secret:", "x secret: 1", ": secret", "x: secret\u0007", "x: secrét", ""])
    assertRefused(withHeaders("x: 1", bad), expected);
  assertRefused(
    withHeaders("Content-Length: 1"),
    /: expected another header than content-length, which proofd sets itself/,
  );
  assertRefused(withHeaders("X-A: secret", "x-a: secret"), /: expected the header x-a once, got it twice$/);
  assertRefused(withHeaders("x: 1\ny"), /header 2 of 2/);
  assertRefused(
    withHeaders(...Array.from({length: 17}, (_, at) => `x${at}: secret`)),
    /: expected at most 16 headers, got 17/,
  );
  assertRefused(
    ["--l2", "http://user:secret@a", "--l2-header", "Authorization: secret"],
    /^error: --l2-header: expected no authorization if a URL of --l2 has a user, got one$/,
  );
  assertRefused(["--l2", "http://a"], /^error: variable PROOFD_L2_HEADER, header 1 of 1: /, {
    PROOFD_L2_HEADER: "secret",
  });
});

test("headers without a URL are refused", () => {
  assertRefused(["--l2-header", "x: secret"], /^error: --l2-header has no effect without --l2$/);
  assertRefused([], /^error: variable PROOFD_L1_HEADER has no effect without --l1$/, {
    PROOFD_L1_HEADER: "x: secret",
  });
});

test("the help shows no values of variables", () => {
  const said: string[] = [];
  const variables = {PROOFD_L2: "http://secret", PROOFD_L2_HEADER: "x: secret"};
  assert.throws(() => read(["--help"], variables, said), /outputHelp/);
  assert.match(said.join(""), /PROOFD_L2_HEADER/);
  assert.doesNotMatch(said.join(""), /secret/);
});
