/** A feed over TLS, with a server that takes only users with credentials. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {writeFile} from "node:fs/promises";
import {test} from "node:test";
import {nkeys} from "@nats-io/transport-node";
import {CHAIN_ID, createLines, WorkFolder} from "../../support/chains/serviceChain.ts";
import {waitForHead, waitForReadiness} from "../../support/http/followingDaemon.ts";
import {lacksNats, NatsServer, publishTo} from "../../support/nats/natsServer.ts";
import {startDaemon} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {importLines} from "../../support/stores/importedStore.ts";

type Pair = ReturnType<typeof nkeys.createUser>;

const FOREVER = {subs: -1, data: -1, payload: -1};
const DISK = 2_000_000_000;

/** @returns the text of a configuration, and of a file of credentials */
function createIdentity(): {readonly config: string; readonly creds: string} {
  const [operator, user] = [nkeys.createOperator(), nkeys.createUser()];
  const [system, account] = [nkeys.createAccount(), nkeys.createAccount()];
  const operatorToken = sign(operator, operator, {type: "operator"});
  const limits = {...FOREVER, conn: -1, leaf: -1, imports: -1, exports: -1, wildcards: true};
  const accountToken = sign(operator, account, {
    type: "account",
    limits: {...limits, mem_storage: -1, disk_storage: DISK, streams: -1, consumer: -1},
  });
  const systemToken = sign(operator, system, {type: "account", limits});
  const userToken = sign(account, user, {type: "user", ...FOREVER});
  const [systemName, name] = [system.getPublicKey(), account.getPublicKey()];
  const config = [
    `operator: ${operatorToken}`,
    "resolver: MEMORY",
    `system_account: ${systemName}`,
    `resolver_preload: {${systemName}: ${systemToken}, ${name}: ${accountToken}}`,
    "",
  ].join("\n");
  const seed = new TextDecoder().decode(user.getSeed());
  const creds = [
    ...["-----BEGIN NATS USER JWT-----", userToken, "------END NATS USER JWT------", ""],
    ...["-----BEGIN USER NKEY SEED-----", seed, "------END USER NKEY SEED------", ""],
  ].join("\n");
  return {config, creds};
}

function sign(issuer: Pair, subject: Pair, nats: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = {
    jti: subject.getPublicKey(),
    iat: 1_700_000_000,
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name: "proofd",
    nats: {...nats, version: 2},
  };
  const text = `${encode({typ: "JWT", alg: "ed25519-nkey"})}.${encode(claims)}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString("base64url")}`;
}

const {first: PAIR, second: OTHER_PAIR} = JSON.parse(
  readFileSync(
    new URL("./test/fixtures/own/tlsPairs.json", import.meta.resolve("#package/package.json")),
    "utf8",
  ),
);

test("over TLS and with credentials blocks are published and taken; without them, or from a server of another authority, nothing is", async t => {
  const lack = lacksNats();
  if (lack !== undefined) return notRun(t, lack);
  const folder = new WorkFolder();
  const {config, creds} = createIdentity();
  const file = async (name: string, text: string) => {
    await writeFile(folder.file(name), text);
    return folder.file(name);
  };
  const [cert, key] = [await file("cert.pem", PAIR.cert), await file("key.pem", PAIR.key)];
  const secured = `${config}tls: {cert_file: ${JSON.stringify(cert)}, key_file: ${JSON.stringify(key)}}\n`;
  const nats = await NatsServer.start(folder.file("jetstream"), ["-c", await file("nats.conf", secured)]);
  const url = nats.url.replace("nats:", "tls:").replace("127.0.0.1", "localhost");
  const known = ["--nats-creds", await file("user.creds", creds)];
  const trusting = (authority: string) => ({env: {NODE_EXTRA_CA_CERTS: authority}});
  const db = folder.file("db");
  await importLines(db, createLines(0, 3), {finalized: 3, keepsChanges: true});
  const publisher = await startDaemon(
    ["--db", db, "--publish", url, "--snapshot-every", "0", ...known],
    trusting(cert),
  );
  const replica = await startDaemon(
    ["--db", folder.file("replica"), "--allow-unverified", "--feed", url, "--chain-id", CHAIN_ID, ...known],
    trusting(cert),
  );
  await waitForHead(replica, 3);
  const root = ["chain_getStateRoot", ["0x3"]] as const;
  assert.deepEqual((await replica.call(...root)).result, (await publisher.call(...root)).result);
  await publisher.stop();
  await replica.stop();

  const other = await file("other.pem", OTHER_PAIR.cert);
  for (const [authority, flags, reason] of [
    [cert, [], /publishing is waiting: NATS: .*(authorization|authentication)/i],
    [other, known, /publishing is waiting: NATS: .*(certificate|self)/i],
  ] as const) {
    const refused = await startDaemon(["--db", db, ...publishTo(url), ...flags], trusting(authority));
    await waitForReadiness(refused, reason);
    await refused.stop();
  }
  await nats.kill();
});
