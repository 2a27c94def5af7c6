/** The port of control.json: other programs that connect to it keep no order out, and a silent one keeps no order waiting. */
import assert from "node:assert/strict";
import {createServer as createHttpServer, request} from "node:http";
import {type AddressInfo, connect, createServer, type Server, type Socket} from "node:net";
import {test} from "node:test";
import {NoControl, sendCommand} from "../../../server/lifecycle/control/controlClient.ts";
import {readControlFile, writeControlFile} from "../../../server/lifecycle/control/controlFile.ts";
import {ControlServer} from "../../../server/lifecycle/control/controlServer.ts";
import {createLines} from "../../support/chains/serviceLines.ts";
import {TemporaryStore} from "../../support/stores/temporaryStore.ts";
import {once} from "../../support/wait.ts";

/** More connections than the control port keeps. */
const STRANGERS = 100;
const SILENCE_MS = 100;

async function useStore(work: (store: TemporaryStore) => Promise<void>): Promise<void> {
  await TemporaryStore.use("sha256", async store => {
    await store.mustImport(createLines(0, 3));
    await work(store);
  });
}

async function useServer(server: Server, work: (port: number) => Promise<void>): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await work((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}

test("connections without an order do not keep `proofd finalize` out", () =>
  useStore(async ({directory, engine}) => {
    const control = await ControlServer.start(directory, engine, () => {});
    const strangers: Socket[] = [];
    try {
      const {port} = (await readControlFile(directory)) ?? assert.fail("no control.json");
      for (let at = 0; at < STRANGERS; at++) {
        const stranger = connect(port, "127.0.0.1");
        strangers.push(stranger.on("error", () => {}));
        await once(stranger, "connect");
      }
      const answer = await sendCommand(directory, {kind: "finalize", to: 2});
      assert.equal(answer.ok && answer.after.finalized, 2);
    } finally {
      for (const stranger of strangers) stranger.destroy();
      await control.stop();
      await control.close();
    }
  }));

test("an order that takes long shows that it is at work, and is answered", () =>
  useStore(async ({directory, engine}) => {
    let release = (): void => {};
    const released = new Promise<void>(resolve => {
      release = resolve;
    });
    const {chain, writes} = engine;
    const slow = {
      chain,
      writes: {
        finalize: (block: number) => released.then(() => writes.finalize(block)),
        rollback: (block: number) => writes.rollback(block),
      },
    };
    const control = await ControlServer.start(directory, slow, () => {}, 1);
    try {
      const {port, token} = (await readControlFile(directory)) ?? assert.fail("no control.json");
      const headers = {Authorization: `Bearer ${token}`};
      const sent = request({host: "127.0.0.1", port, path: "/finalize", method: "POST", headers});
      sent.end('{"to":1}');
      const [response] = await once(sent, "response");
      let text = "";
      for await (const part of response.setEncoding("utf8")) {
        text += part;
        if (text.length > 2) release();
      }
      assert.equal(JSON.parse(text).after.finalized, 1);
    } finally {
      release();
      await control.stop();
      await control.close();
    }
  }));

test("a program that is silent on the port of a killed process is not waited for", () =>
  useStore(async ({directory}) => {
    const sockets: Socket[] = [];
    const silent = createServer(socket => void sockets.push(socket));
    const halfSilent = createHttpServer((_, response) => response.writeHead(200).flushHeaders());
    for (const server of [silent, halfSilent])
      await useServer(server, async port => {
        await writeControlFile(directory, {pid: 1, port, token: "0".repeat(64)});
        await assert.rejects(
          sendCommand(directory, {kind: "rollback", to: 1}, SILENCE_MS),
          error => error instanceof NoControl && /has sent nothing for 100 ms/.test(error.message),
        );
      });
    for (const socket of sockets) socket.destroy();
  }));
