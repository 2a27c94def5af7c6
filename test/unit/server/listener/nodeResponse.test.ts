import assert from "node:assert/strict";
import {createServer, type IncomingMessage, type ServerResponse} from "node:http";
import type {AddressInfo} from "node:net";
import {type TestContext, test} from "node:test";
import {NodeResponse} from "../../../../server/listener/nodeResponse.ts";
import {RawConnection} from "../../../support/http/rawConnection.ts";
import {once, within} from "../../../support/wait.ts";

const CHUNK_BYTES = 64 * 1024;
/** Together more than a kernel keeps for a connection. */
const CHUNKS = 400;
const NO_BODY = {pause: () => {}, resume: () => {}};

interface Exchange {
  readonly client: RawConnection;
  readonly answer: ServerResponse;
  readonly response: NodeResponse;
}

/** The client has asked and reads nothing yet. */
async function open(t: TestContext): Promise<Exchange> {
  const server = createServer();
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = await RawConnection.open((server.address() as AddressInfo).port);
  t.after(() => client.destroy());
  client.socket.pause();
  const asked = once(server, "request");
  await client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const [request, answer] = (await asked) as [IncomingMessage, ServerResponse];
  const response = new NodeResponse(request, answer, NO_BODY);
  response.writeStatus("200 OK");
  return {client, answer, response};
}

test("the memory of a chunk that is not stable may be written again while the system takes no more", async t => {
  const {client, answer, response} = await open(t);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const letterOf = (at: number): string => String.fromCharCode(0x61 + (at % 26));
  let written = 0;
  let isFull = false;
  const writeOn = (): boolean => {
    for (let takesMore = true; takesMore && written < CHUNKS; written++) {
      takesMore = response.write(chunk.fill(letterOf(written)), false);
      chunk.fill("-");
      if (answer.writableLength === 0) continue;
      isFull = true;
      client.socket.resume();
    }
    if (written === CHUNKS) response.end();
    return true;
  };
  response.onWritable(writeOn);
  writeOn();
  const {body} = await within("the answer", client.readAnswer());
  assert.ok(isFull, "the system took everything at once");
  const expected = Array.from({length: CHUNKS}, (_, at) => letterOf(at).repeat(CHUNK_BYTES)).join("");
  assert.ok(body === expected, "the answer has other bytes than were written");
});

test("a chunk is handed to the system before the call returns", async t => {
  const {answer, response} = await open(t);
  response.write(Buffer.from("x"), true);
  assert.equal(answer.writableLength, 0);
});

test("an answer that the system takes whole is sent when the call returns", async t => {
  const {response} = await open(t);
  assert.deepEqual(response.tryEnd(Buffer.from("x"), 1), [true, true]);
});
