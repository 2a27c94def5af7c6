import assert from "node:assert/strict";
import {test} from "node:test";
import {cleanText, createRedaction} from "../../../../client/rpc/secrets.ts";

const URL_WITH_KEYS = new URL("https://operator:p%23ss@node.example/v3/0123456789abcdef?token=fedcba98");
const HEADERS = {"x-key": "Bearer s3cr"};

test("keys of the URL, the password, its basic authorization and header values are cut out of a text", () => {
  const redact = createRedaction(URL_WITH_KEYS, HEADERS);
  const basic = Buffer.from("operator:p#ss").toString("base64");
  for (const secret of ["0123456789abcdef", "fedcba98", "p%23ss", "p#ss", "s3cr", "operator", basic])
    assert.equal(redact(`denied: ${secret}!`), "denied: ***!");
  assert.equal(redact("v3 of the api"), "v3 of the api");
});

test("a short user name or password is cut out where it is a word, and not out of other words", () => {
  const redact = createRedaction(new URL("https://e.h:%C3%A9*@node.example/rpc"), {});
  const text = "user e.h (e.h:é*): //e.h:%C3%A9*@node.example, e.he, eah, e_h, née*, rpc";
  assert.equal(redact(text), "user *** (***:***): //***:***@node.example, e.he, eah, e_h, née*, rpc");
});

test("a node's text has no key that a cut would leave a part of, and no second line", () => {
  const redact = createRedaction(URL_WITH_KEYS, HEADERS);
  assert.equal(cleanText("is 0123456789abcdef", redact, 10), "is ***");
  assert.equal(cleanText('no\n{"level":50}\u001b[2J', redact, 100), 'no {"level":50} [2J');
  assert.equal(cleanText("x".repeat(1_000_000), redact, 100).length, 100);
});
