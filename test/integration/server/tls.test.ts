/** HTTPS by --tls-cert and --tls-key, as clients and operators meet it. */
import assert from "node:assert/strict";
import {once} from "node:events";
import {readFileSync} from "node:fs";
import {writeFile} from "node:fs/promises";
import {request} from "node:https";
import {after, before, test} from "node:test";
import {connect, type TLSSocket} from "node:tls";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {CHAIN_ANSWER, CHAIN_CALL} from "../../support/http/wireRequests.ts";

type Pair = {readonly cert: string; readonly key: string};

const PAIRS: Record<"first" | "second", Pair> = JSON.parse(
  readFileSync(
    new URL("./test/fixtures/own/tlsPairs.json", import.meta.resolve("#package/package.json")),
    "utf8",
  ),
);

let folder: WorkFolder;
let db: string;

before(async () => {
  folder = await WorkFolder.create();
  db = await folder.importChain("db", 2, 2);
});

after(() => folder.remove());

async function write({cert, key}: Pair): Promise<readonly string[]> {
  const paths = [folder.file("cert.pem"), folder.file("key.pem")] as const;
  await writeFile(paths[0], cert);
  await writeFile(paths[1], key);
  return ["--tls-cert", paths[0], "--tls-key", paths[1]];
}

/** @returns the name in the certificate that a new connection is shown */
async function readName(service: OwnService): Promise<unknown> {
  const socket: TLSSocket = connect({port: service.port, host: "127.0.0.1", rejectUnauthorized: false});
  await once(socket, "secureConnect");
  const {subject} = socket.getPeerCertificate();
  socket.destroy();
  return subject.CN;
}

async function post(service: OwnService, {cert}: Pair): Promise<string> {
  const asked = request(service.url, {
    method: "POST",
    ca: cert,
    headers: {"content-type": "application/json"},
  });
  asked.end(CHAIN_CALL);
  const [response] = await once(asked, "response");
  let text = "";
  for await (const chunk of response) text += chunk;
  return text;
}

test("requests are answered over TLS, and a new certificate is used without a restart", async () => {
  const flags = await write(PAIRS.first);
  const service = await OwnService.serve(["--db", db, ...flags, "--http", "auto"]);
  try {
    assert.match(service.url, /^https:/);
    assert.equal(service.announcement.http, "node");
    assert.equal(await post(service, PAIRS.first), CHAIN_ANSWER);
    await write({...PAIRS.first, key: PAIRS.second.key});
    await service.waitForStderr(/the TLS files have changed and cannot be used/);
    assert.equal(await readName(service), "first");
    await write(PAIRS.second);
    await service.waitForStderr(/new connections use the new TLS certificate/);
    assert.equal(await readName(service), "second");
    assert.equal(await post(service, PAIRS.second), CHAIN_ANSWER);
  } finally {
    await service.stop();
  }
});

test("files that are no certificate and key are refused at the start, with what was expected", async () => {
  for (const pair of [
    {...PAIRS.first, key: PAIRS.second.key},
    {...PAIRS.first, cert: "none"},
  ]) {
    const flags = await write(pair);
    await assert.rejects(
      OwnService.serve(["--db", db, ...flags, "--http", "auto"]),
      /expected a certificate and its key in PEM in --tls-cert and --tls-key/,
    );
  }
});
