/** Answers as servers may send them, in pieces as networks may cut them. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {AnswerReader} from "../../../../load/traffic/answerReader.ts";

const OK = "HTTP/1.1 200 OK\r\n";

/** [what, bytes, status, body, keepsAlive]. One that ends with its connection is whole with `end`. */
const WHOLE: readonly (readonly [string, string, number, string, boolean])[] = [
  ["a length", `${OK}content-length:  5 \r\n\r\nhello`, 200, "hello", true],
  ["no body", `${OK}X: y\r\nContent-Length: 0\r\n\r\n`, 200, "", true],
  ["204 has none", "HTTP/1.1 204 No Content\r\n\r\n", 204, "", true],
  [
    "chunks",
    `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n`,
    200,
    "hello",
    true,
  ],
  [
    "a trailer",
    `${OK}transfer-encoding: Chunked\r\n\r\nA\r\n0123456789\r\n0\r\nA: b\r\n\r\n`,
    200,
    "0123456789",
    true,
  ],
  [
    "a line end in a chunk",
    `${OK}transfer-encoding: chunked\r\n\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n`,
    200,
    "\r\n\r\n",
    true,
  ],
  [
    "both: chunks count",
    `${OK}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
    200,
    "a",
    true,
  ],
  ["the last of a connection", `${OK}Connection: Close\r\ncontent-length: 1\r\n\r\na`, 200, "a", false],
  ["HTTP/1.0", "HTTP/1.0 503 Busy\r\ncontent-length: 1\r\n\r\na", 503, "a", false],
  [
    "HTTP/1.0 that stays",
    "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 1\r\n\r\na",
    200,
    "a",
    true,
  ],
  [
    "interim answers",
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\n${OK}content-length: 1\r\n\r\na`,
    200,
    "a",
    true,
  ],
];

test("an answer is read the same however its bytes are cut, and so is the one after it", () => {
  for (const [what, text, status, body, keepsAlive] of WHOLE) {
    const bytes = Buffer.from(text);
    for (let first = 1; first <= bytes.length; first++)
      for (const second of [1, 7, bytes.length]) {
        const reader = new AnswerReader();
        for (let round = 0; round < 2; round++) {
          let at = 0;
          for (let end = first; at < bytes.length; end = Math.min(bytes.length, end + second)) {
            // The memory of a part is used again for the next one.
            const part = Buffer.from(bytes.subarray(at, end));
            const isWhole = reader.push(part);
            assert.equal(isWhole, end === bytes.length, `${what} at ${end}`);
            if (!isWhole) part.fill(0);
            at = end;
          }
          const read = [reader.status, reader.body.toString(), reader.keepsAlive];
          assert.deepEqual(read, [status, body, keepsAlive], what);
        }
        assert.equal(reader.end(), false);
      }
  }
});

test("an answer without a length ends with its connection, another one is cut by it", () => {
  const reader = new AnswerReader();
  assert.equal(reader.push(Buffer.from(`${OK}\r\nhel`)), false);
  assert.equal(reader.push(Buffer.from("lo")), false);
  assert.ok(reader.end());
  assert.equal(reader.body.toString(), "hello");
  for (const cut of [
    "",
    "HTTP/1.1 200",
    `${OK}content-length: 3\r\n\r\nab`,
    `${OK}transfer-encoding: chunked\r\n\r\n1\r\na\r\n`,
  ]) {
    assert.equal(reader.push(Buffer.from(cut)), false);
    assert.equal(reader.end(), false, cut);
  }
});

test("what is no HTTP/1.1 is refused, and named", () => {
  const table: readonly (readonly [string, RegExp])[] = [
    ["SSH-2.0-OpenSSH\r\n\r\n", /^expected HTTP\/1\.1, got "SSH-2\.0-OpenSSH"$/],
    ["HTTP/2 200 OK\r\n\r\n", /^expected HTTP\/1\.1/],
    ["HTTP/1.1 2000 OK\r\n\r\n", /^expected HTTP\/1\.1/],
    [`${OK}content-length: 1\r\n\r\nab`, /^more bytes than the answer has$/],
    [`${OK}transfer-encoding: chunked\r\n\r\n0\r\n\r\na`, /^more bytes than the answer has$/],
    [`${OK}transfer-encoding: chunked\r\n\r\n-1\r\na\r\n`, /^a chunk without its length$/],
    [`${OK}transfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n`, /^a chunk without its length$/],
    [`${OK}${"a".repeat(65_536)}`, /^a head of more than 65536 bytes$/],
  ];
  for (const [text, message] of table)
    assert.throws(() => new AnswerReader().push(Buffer.from(text)), {message}, text.slice(0, 80));
});
