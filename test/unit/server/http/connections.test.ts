import assert from "node:assert/strict";
import {test} from "node:test";
import pino from "pino";
import {Clients} from "../../../../server/http/clientAddress.ts";
import {Connections} from "../../../../server/http/connections.ts";

const PROXY = "127.0.0.9";

function create() {
  const connections = new Connections({
    limit: 100,
    clients: new Clients(),
    isProxy: address => address === PROXY,
    log: pino({level: "silent"}),
  });
  const connect = (address: string) => {
    const connected = connections.connect(address, () => undefined);
    assert.ok("client" in connected);
    return connected.client;
  };
  return {connections, connect};
}

test("the only client is known until another one connects, and again once all have gone", () => {
  const {connections, connect} = create();
  const first = connect("127.0.0.1");
  assert.equal(connections.only, first);
  connect("127.0.0.1");
  assert.equal(connections.only, first);
  const second = connect("127.0.0.2");
  assert.notEqual(second, first);
  assert.equal(connections.only, undefined);
  connect("127.0.0.2");
  assert.equal(connections.only, undefined);
  // It is not known whose connections have closed.
  for (let open = 4; open > 1; open--) connections.disconnect(undefined);
  connect("127.0.0.2");
  assert.equal(connections.only, undefined);
  connections.disconnect(undefined);
  connections.disconnect(undefined);
  assert.equal(connect("127.0.0.2"), second);
  assert.equal(connections.only, second);
});

test("behind a proxy there is no only client", () => {
  const {connections, connect} = create();
  connect(PROXY);
  assert.equal(connections.only, undefined);
  connect(PROXY);
  assert.equal(connections.only, undefined);
  connect("127.0.0.1");
  assert.equal(connections.only, undefined);
  for (let open = 3; open > 0; open--) connections.disconnect(undefined);
  const client = connect("127.0.0.1");
  assert.equal(connections.only, client);
  connect(PROXY);
  assert.equal(connections.only, undefined);
});
