import assert from "node:assert/strict";
import {test} from "node:test";
import {AllowedHosts} from "../../../../server/http/allowedHosts.ts";

const NAMES = ["rebound.example", "localhost.rebound.example:8545", "127.0.0.1.rebound.example", "[rebound]"];
const ADDRESSES = ["", "localhost:8545", "LOCALHOST", "127.0.0.1", "[::1]:1", "10.0.0.1:80"];

test("addresses, localhost and names of --allow-host are allowed, and every name where none is given off loopback", () => {
  for (const [listening, allowed, taken, refused] of [
    ["127.0.0.1", [], ADDRESSES, NAMES],
    ["::1", [], ADDRESSES, NAMES],
    ["0.0.0.0", ["Proofd.Example.org"], [...ADDRESSES, "proofd.example.org:8545"], [...NAMES, "example.org"]],
    ["0.0.0.0", [], [...ADDRESSES, ...NAMES], []],
    ["127.0.0.1", ["*"], [...ADDRESSES, ...NAMES], []],
  ] as const) {
    const hosts = new AllowedHosts(listening, allowed);
    for (const name of taken) assert.equal(hosts.allows(name), true, `${listening}: ${name}`);
    for (const name of refused) assert.equal(hosts.allows(name), false, `${listening}: ${name}`);
  }
});
