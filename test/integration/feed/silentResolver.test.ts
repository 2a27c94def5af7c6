/** A broker whose name nobody resolves any more: a lookup cannot be cancelled, and a process that is stopped waits for it. */
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {createSocket} from "node:dgram";
import {once} from "node:events";
import {writeFile} from "node:fs/promises";
import {test} from "node:test";
import {CHAIN_ID, WorkFolder} from "../../support/chains/serviceChain.ts";
import {lacksNats, NatsServer} from "../../support/nats/natsServer.ts";
import {startDaemon} from "../../support/processes/daemon.ts";
import {describeNeeding} from "../../support/processes/notRun.ts";
import {within} from "../../support/wait.ts";

/** The port is the only one that resolv.conf can name, so the address is one that no program of this computer uses. */
const ADDRESS = "127.77.3.9";
const PORT = 53;
/** Seen by the process alone, in place of the system's. */
const MOUNT =
  'mount --bind "$1" /etc/resolv.conf && mount --bind "$2" /etc/nsswitch.conf && shift 2 && exec "$@"';

function lacksMounts(): string | undefined {
  const tried = spawnSync("unshare", [
    "--mount",
    "mount",
    "--bind",
    "/etc/nsswitch.conf",
    "/etc/nsswitch.conf",
  ]);
  return tried.status === 0 ? undefined : "only root on Linux may give a process a name server of its own";
}

/** @returns 127.0.0.1 for a query of an IPv4 address, no address for others */
function answer(query: Buffer): Buffer {
  const isIpv4 = query.readUInt16BE(query.indexOf(0, 12) + 1) === 1;
  const end = query.indexOf(0, 12) + 5;
  const head = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, isIpv4 ? 1 : 0, 0, 0, 0, 0]);
  const record = isIpv4
    ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1])
    : Buffer.alloc(0);
  return Buffer.concat([head, query.subarray(12, end), record]);
}

describeNeeding(lacksNats() ?? lacksMounts(), "a name server that falls silent", () => {
  test("a replica that looks up its lost broker ends in time, with exit code 0", async t => {
    const folder = new WorkFolder();
    const db = await folder.importChain("db", 3, 3);
    const [resolver, order] = [folder.file("resolv.conf"), folder.file("nsswitch.conf")];
    await writeFile(resolver, `nameserver ${ADDRESS}\nsearch example.internal\n`);
    await writeFile(order, "hosts: files dns\n");
    const nats = await NatsServer.start(folder.file("jetstream"));
    const server = createSocket("udp4").bind(PORT, ADDRESS);
    t.after(() => server.close());
    await once(server, "listening");
    server.on("message", (query, {port, address}) => server.send(answer(query), port, address));
    const daemon = await startDaemon(
      ["--db", db, "--chain-id", `${CHAIN_ID}`, "--feed", `nats://broker.example:${nats.port}`],
      {under: ["unshare", "--mount", "sh", "-c", MOUNT, "sh", resolver, order]},
    );
    await daemon.waitForStderr(/there is no stream/);
    server.removeAllListeners("message");
    const asked = once(server, "message");
    await nats.kill();
    const [query] = await within("a query", asked);
    assert.match(query.toString("latin1"), /broker.example/);
    const {code, stderr} = await daemon.stop();
    assert.equal(code, 0, stderr);
  });
});
