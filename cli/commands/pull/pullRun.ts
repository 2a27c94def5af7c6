/** A pull from its beginning, or from where it was stopped, to its manifest. */
import {encodeHex} from "../../../client/bytes/hex.ts";
import {FolderWriter} from "../../../client/folder/folderWriter.ts";
import type {Manifest} from "../../../client/folder/manifest.ts";
import type {Order} from "../../../client/folder/order.ts";
import {PulledError} from "../../../client/folder/pulledError.ts";
import {HASH_SUITES, type HashSuite} from "../../../client/hash/hashSuites.ts";
import {createProofClient} from "../../../client/methods/proofClient.ts";
import {ProofError} from "../../../client/proof/proofError.ts";
import {RpcError} from "../../../client/rpc/rpcError.ts";
import {WorkError} from "../../../server/life/workError.ts";
import type {PullOptions} from "../../flags/pullFlags.ts";
import {pullChangesFrom} from "./changesPull.ts";
import {contextOf, pullCodes} from "./codesPull.ts";
import {pullEntries} from "./entriesPull.ts";
import {checkKeys, type KeysFile, readKeys} from "./keysFile.ts";
import {PULL_START, type PullPlace, type PullWork} from "./pullPlace.ts";
import type {PullProgress} from "./pullProgress.ts";
import {pullTrees} from "./treesPull.ts";

interface PullSettings {
  /** 32 bytes. */
  readonly trustedRoot: Uint8Array;
  /** Of changes, that of the block before. */
  readonly fromRoot?: Uint8Array | undefined;
  readonly progress: PullProgress;
  /** Stops the pull. What was verified stays. */
  readonly signal: AbortSignal;
  /** For tests, which have little: what a part and a range have. */
  readonly partBytes?: number;
  readonly leavesPerRange?: number;
}

/**
 * @returns the manifest
 * @throws WorkError that says why the pull stopped, and what stays
 */
export async function runPull(options: PullOptions, settings: PullSettings): Promise<Manifest> {
  const {choice, out, resume, url, block, command} = options;
  const suite = HASH_SUITES.find(({name}) => name === options.suite) as HashSuite;
  const keys = choice.kind === "keys" ? await checkKeys(choice.file) : undefined;
  const order = createOrder(options, settings, keys);
  const client = withoutTypeError(() => {
    const {trustedRoot, fromRoot} = settings;
    if (fromRoot === undefined) return createProofClient({url: url.href, suite, trustedRoot});
    const rootOf = (of: bigint) => (of === BigInt(block) ? trustedRoot : fromRoot);
    return createProofClient({url: url.href, suite, trustedRoot: rootOf});
  });
  const writer = await openFolder(() =>
    resume
      ? FolderWriter.resume<PullPlace>(out, order, settings.partBytes)
      : FolderWriter.create<PullPlace>(out, order, settings.partBytes),
  );
  if (!(writer instanceof FolderWriter)) return writer;
  const {signal, progress} = settings;
  const place = writer.place ?? PULL_START;
  const work: PullWork = {
    client,
    suite,
    block: BigInt(block),
    writer,
    progress,
    signal,
    place,
    leavesPerRange: settings.leavesPerRange,
  };
  try {
    const {hash} = await client.getStateRoot({block, signal});
    await pullChoice(work, options, keys);
    const isAll = choice.kind === "all";
    if (isAll) await pullCodes(work);
    const context = isAll ? contextOf(await client.getHeader({block, signal})) : undefined;
    const {accountTree} = work.place;
    const held = {number: block, hash, stateRoot: order.stateRoot};
    return writer.complete(work.place, {
      ...{command, block: held},
      ...(accountTree === undefined ? {} : {accountTree}),
      ...(context === undefined ? {} : {context}),
    });
  } catch (error) {
    throw keepVerified(work, out, error);
  } finally {
    progress.close();
    writer.close();
  }
}

async function pullChoice(work: PullWork, {choice}: PullOptions, keys: KeysFile | undefined): Promise<void> {
  if (keys !== undefined) return pullEntries(work, readKeys(keys.path), keys.keys);
  if (choice.kind === "changes") return pullChangesFrom(work, BigInt(choice.from));
  if (choice.kind === "all" || choice.kind === "accounts") return pullTrees(work, [choice.kind]);
  const {addresses} = choice as Extract<PullOptions["choice"], {kind: "storage"}>;
  const requests = addresses.map(address => ({address, storageKeys: []}));
  await pullEntries(work, requests, addresses.length);
  return pullTrees(work, addresses);
}

function createOrder(
  {url, suite, format, choice, block}: PullOptions,
  {trustedRoot, fromRoot}: PullSettings,
  keys: KeysFile | undefined,
): Order {
  return {
    ...{url: url.href, suite, format, pulled: choice.kind},
    ...(choice.kind === "storage" ? {addresses: choice.addresses} : {}),
    ...(keys === undefined ? {} : {keys: keys.sha256}),
    ...(choice.kind === "changes" && fromRoot !== undefined
      ? {fromBlock: choice.from, fromRoot: encodeHex(fromRoot)}
      : {}),
    ...{block, stateRoot: encodeHex(trustedRoot)},
  };
}

/** Finishes the parts with what was verified. @returns the error for the user */
function keepVerified({writer, place}: PullWork, out: string, error: unknown): Error {
  const reason = describe(error);
  if (reason === undefined) return error as Error;
  // A disk that is full takes no more.
  if (!(error instanceof PulledError)) writer.finishParts(place);
  const rows = writer.allRows;
  const kept = rows === 0 ? "Nothing was verified before" : `${rows} rows that were verified stay in ${out}`;
  return new WorkError(`the pull stopped: ${reason}. ${kept}; --resume goes on`, {cause: error});
}

/** @returns undefined for an error that is a mistake of ours */
function describe(error: unknown): string | undefined {
  if (error instanceof ProofError) return `what the server sent does not verify: ${error.message}`;
  if (error instanceof RpcError)
    return typeof error.code === "number"
      ? `the server refused (${error.code}): ${error.message}`
      : `no useful answer from the server (${error.code}): ${error.message}`;
  if (error instanceof PulledError || error instanceof WorkError || error instanceof RangeError)
    return error.message;
  return undefined;
}

async function openFolder<Opened>(open: () => Opened | Promise<Opened>): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof PulledError) throw new WorkError(`--out: ${error.message}`, {cause: error});
    throw error;
  }
}

/** The client refuses what it cannot use with a TypeError, such as a root that is no digest of the suite. */
function withoutTypeError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof TypeError) throw new WorkError(error.message, {cause: error});
    throw error;
  }
}
