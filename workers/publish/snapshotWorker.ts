/** The thread that uploads one snapshot: it makes it beside the store, hashes its files, sends those that are not there yet, and removes it. */
import {createHash} from "node:crypto";
import {createReadStream} from "node:fs";
import {readdir, rm, stat} from "node:fs/promises";
import {join} from "node:path";
import {connectNats} from "../../nodes/feed/natsConnection.ts";
import {type SnapshotFile, type SnapshotList, SnapshotStore} from "../../nodes/feed/snapshotStore.ts";
import {toHex} from "../../storage/hex.ts";
import {makeSnapshot} from "../../storage/storeSnapshot.ts";
import type {SnapshotJob, SnapshotOutcome} from "../messages/snapshotJob.ts";
import type {OwnJob} from "../threads/ownThread.ts";
import {Niceness, yieldToOtherThreads} from "../threads/threadPriority.ts";

export default async function run({job, port}: OwnJob<SnapshotJob>): Promise<SnapshotOutcome> {
  yieldToOtherThreads(Niceness.SNAPSHOT);
  const stopping = new AbortController();
  port.once("message", () => stopping.abort(new Error("stopped")));
  try {
    return await upload(job, stopping.signal);
  } catch (error) {
    return {failure: (error as Error).message};
  } finally {
    port.close();
  }
}

async function upload(
  {directory, nats, stream, chain, replicas, bytesPerSecond, unlessFrom}: SnapshotJob,
  signal: AbortSignal,
): Promise<SnapshotOutcome> {
  const startMs = performance.now();
  const out = `${directory}.upload`;
  const connection = await connectNats(nats, "proofd snapshots", signal, () => {});
  // What waits for an answer fails at once then.
  signal.addEventListener("abort", () => void connection.close());
  try {
    const store = (await SnapshotStore.open(connection, stream, chain, replicas)) as SnapshotStore;
    let uploadedBlock: number | undefined;
    const isNeeded = (newest: SnapshotList | undefined): boolean => {
      uploadedBlock = newest?.block;
      return uploadedBlock === undefined || uploadedBlock < unlessFrom;
    };
    await rm(out, {recursive: true, force: true});
    const {block, hash, stateRoot} = await makeSnapshot({directory, out, signal});
    const files = await listFiles(out, signal);
    const list = {
      version: 1 as const,
      suite: chain.suite,
      ...{block, hash: toHex(hash), stateRoot: toHex(stateRoot), files},
    };
    const sentBytes = await store.put(out, list, bytesPerSecond, isNeeded, signal);
    if (sentBytes === undefined) return {uploadedBlock: uploadedBlock as number};
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    return {block, files: files.length, bytes, sentBytes, ms: Math.round(performance.now() - startMs)};
  } finally {
    await connection.close();
    await rm(out, {recursive: true, force: true});
  }
}

async function listFiles(folder: string, signal: AbortSignal): Promise<SnapshotFile[]> {
  const files: SnapshotFile[] = [];
  for (const name of (await readdir(folder)).sort()) {
    signal.throwIfAborted();
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(join(folder, name))) hash.update(chunk);
    files.push({name, bytes: (await stat(join(folder, name))).size, sha256: hash.digest("hex")});
  }
  return files;
}
