import assert from "node:assert/strict";
import {once} from "node:events";
import {type AddressInfo, createServer} from "node:net";
import {test} from "node:test";
import {connectNats, describeOldServer} from "../../../../nodes/feed/natsConnection.ts";

test("a NATS server before 2.10.12 is said to be too old, and no other one", () => {
  const describe = (version: string) => describeOldServer({info: {version}});
  for (const version of ["2.9.10", "2.10.11", "2.10.0-beta.1", "1.99.99", "2.9.25"])
    assert.match(describe(version) ?? "", /^NATS .* may leave messages .* use 2\.10\.12 or later$/, version);
  for (const version of ["2.10.12", "2.10.12-RC.1", "2.10.13", "2.11.0", "2.12.1", "3.0.0", "dev", ""])
    assert.equal(describe(version), undefined, version);
  // While the connection is being made again.
  assert.equal(describeOldServer({}), undefined);
});

test("connecting ends with its signal, whatever the server or its name's lookup does", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const {port} = silent.address() as AddressInfo;
  const ending = new AbortController();
  const settings = {urls: [`nats://127.0.0.1:${port}`], credsPath: undefined};
  const events: string[] = [];
  const connecting = connectNats(settings, "test", ending.signal, ({reason}) => events.push(reason));
  const [socket] = await once(silent, "connection");
  ending.abort(new Error("stopped"));
  await assert.rejects(connecting, /^Error: stopped$/);
  assert.equal(socket.destroyed, false, "the library has not given up yet");
  assert.deepEqual(events, []);
  socket.destroy();
  silent.close();
  await once(silent, "close");
});
