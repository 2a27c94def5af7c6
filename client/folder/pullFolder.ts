/** Pulls into a folder: begins or resumes the pull, and writes its manifest at the end. */
import {count, shown} from "../bytes/values.ts";
import {HASH_SUITES, type HashSuite} from "../hash/hashSuites.ts";
import type {ProofClient} from "../methods/proofClient.ts";
import {ProofError} from "../proof/proofError.ts";
import type {ProofRequests} from "../pull/piece.ts";
import {RpcError} from "../rpc/rpcError.ts";
import {contextOf, pullCodes} from "./codesPull.ts";
import {FolderWriter} from "./folderWriter.ts";
import type {Manifest} from "./manifest.ts";
import type {AskedPull} from "./manifestParts.ts";
import {pullChangesFrom} from "./provenChanges.ts";
import {pullEntries} from "./provenEntries.ts";
import {PulledError} from "./pulledError.ts";
import {PULL_START, type PullPlace, type PullProgress, type PullWork} from "./pullPlace.ts";
import {pullTrees} from "./treesPull.ts";

export interface FolderPull {
  /** New or empty. With `resume`, also that of a stopped pull with the same request. */
  readonly folder: string;
  readonly resume: boolean;
  /** Recorded in the manifest for information. It must not contain keys. */
  readonly command: string;
  /** Stops the pull. What was verified stays. */
  readonly signal: AbortSignal;
  readonly progress: PullProgress;
  /** Of a pull of "keys": the same requests each time, and how many addresses and storage keys they have. */
  readonly keys?: {readonly requests: ProofRequests; readonly count: number} | undefined;
  /** Bytes of a part. Default: 32 MiB. */
  readonly partBytes?: number | undefined;
  /** Default: that of pullState. */
  readonly leavesPerRange?: number | undefined;
}

/**
 * @param client - trusts `stateRoot` at `block`, and `fromRoot` at `fromBlock`
 * @throws PulledError: STOPPED and NOTHING_PULLED say why the pull stopped, and what stays; others, before anything is
 *   pulled, that the folder or the server's suite does not fit
 */
export async function pullFolder(client: ProofClient, asked: AskedPull, pull: FolderPull): Promise<Manifest> {
  const {folder, resume, command, signal, progress, partBytes, leavesPerRange} = pull;
  const writer = resume
    ? await FolderWriter.resume<PullPlace>(folder, asked, partBytes)
    : FolderWriter.create<PullPlace>(folder, asked, partBytes);
  // A pull that is complete needs no server.
  if (!(writer instanceof FolderWriter)) return writer;
  const {block, stateRoot} = asked;
  const work: PullWork = {
    client,
    suite: HASH_SUITES.find(({name}) => name === asked.suite) as HashSuite,
    block: BigInt(block),
    writer,
    progress,
    signal,
    place: writer.place ?? PULL_START,
    leavesPerRange,
  };
  try {
    await requireSuite(client, asked.suite, signal);
    const {hash} = await client.getStateRoot({block, signal});
    await pullRows(work, asked, pull.keys);
    const isAll = asked.pulled === "all";
    if (isAll) await pullCodes(work);
    const context = isAll ? contextOf(await client.getHeader({block, signal})) : undefined;
    const {accountTree} = work.place;
    return writer.complete(work.place, {
      command,
      block: {number: block, hash, stateRoot},
      accountTree,
      context,
    });
  } catch (error) {
    throw keepVerified(work, folder, error);
  } finally {
    writer.close();
  }
}

/** @throws PulledError OTHER_SUITE; what getCoverage throws */
async function requireSuite(client: ProofClient, suite: string, signal: AbortSignal): Promise<void> {
  const {suite: stored} = await client.getCoverage({signal});
  if (stored === suite) return;
  throw new PulledError(
    "OTHER_SUITE",
    stored === "keccak"
      ? `expected a server with ${suite}, got one with keccak: it has only Ethereum's tries, and no trees to pull`
      : `expected ${shown(stored)}, that of the server, got ${suite}`,
  );
}

async function pullRows(work: PullWork, asked: AskedPull, keys: FolderPull["keys"]): Promise<void> {
  const {pulled, addresses = [], fromBlock} = asked;
  if (pulled === "keys" && keys !== undefined) return pullEntries(work, keys.requests, keys.count);
  if (pulled === "changes" && fromBlock !== undefined) return pullChangesFrom(work, BigInt(fromBlock));
  if (pulled === "all" || pulled === "accounts") return pullTrees(work, [pulled]);
  const requests = addresses.map(address => ({address, storageKeys: []}));
  await pullEntries(work, requests, addresses.length);
  return pullTrees(work, addresses);
}

/** Keeps what was verified. @returns the error for the caller */
function keepVerified({writer, place, signal}: PullWork, folder: string, error: unknown): unknown {
  const reason = reasonOf(error, signal);
  if (reason === undefined) return error;
  // After an error of the folder itself, such as a full disk, nothing more is written.
  if (!(error instanceof PulledError)) writer.keepDrafts(place);
  const rows = writer.keptRows;
  if (rows === 0) return new PulledError("NOTHING_PULLED", `nothing was pulled: ${reason}`, error);
  const kept = `${count(rows, "verified row")} ${rows === 1 ? "stays" : "stay"} in ${folder}`;
  return new PulledError("STOPPED", `the pull stopped: ${reason}. ${kept}`, error);
}

/** @returns why the pull stopped; undefined if resuming would fail again: another suite, or a bug */
function reasonOf(error: unknown, signal: AbortSignal): string | undefined {
  if (signal.aborted && error === signal.reason) return (error as Error).message;
  if (error instanceof ProofError) return `what the server sent does not verify: ${error.message}`;
  if (error instanceof RpcError)
    return typeof error.code === "number"
      ? `the server refused (${error.code}): ${error.message}`
      : `no useful answer from the server (${error.code}): ${error.message}`;
  if (error instanceof PulledError && error.code === "OTHER_SUITE") return undefined;
  return error instanceof PulledError || error instanceof RangeError ? error.message : undefined;
}
