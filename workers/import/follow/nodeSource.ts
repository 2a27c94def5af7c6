/** A layer-2 node as the source of an import. */

import {ExecutionError} from "../../../evm/execution/executionError.ts";
import {ForkSchedule} from "../../../evm/execution/forkSchedule.ts";
import type {Genesis, GenesisFile} from "../../../evm/execution/genesis.ts";
import {parseObject} from "../../../evm/execution/gethJson.ts";
import {recoverAuthority} from "../../../evm/execution/run/authorizations.ts";
import {SliceReader} from "../../../nodes/blocks/slice/sliceReader.ts";
import {SettingsFault, type SourceStep, Stopped} from "../../../nodes/blocks/sourceStep.ts";
import {TraceReader} from "../../../nodes/blocks/trace/traceReader.ts";
import {TrieLogReader} from "../../../nodes/blocks/trielogs/trieLogReader.ts";
import {parseQuantity} from "../../../nodes/rpc/answerValues.ts";
import {HeadSignal} from "../../../nodes/rpc/newHeads.ts";
import type {Node} from "../../../nodes/rpc/node.ts";
import {Nodes} from "../../../nodes/rpc/nodes.ts";
import type {SlicedAddress} from "../../../storage/block/sliceBlock.ts";
import type {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import type {ImportJob} from "../../messages/importJob.ts";
import type {NodeSource, NodeSourceName} from "../../messages/importSource.ts";
import {readGenesis} from "../genesisFile.ts";
import type {SourceHost} from "../sourceHost.ts";
import {ExecuteReader} from "./executeReader.ts";
import {HeadSurvey} from "./headSurvey.ts";
import {type NodeChain, readNodeBlocks} from "./nodeBlocks.ts";
import {readNodeGenesis} from "./nodeGenesis.ts";
import {NodeWatch} from "./nodeWatch.ts";
import {chooseSource} from "./sourceChoice.ts";

/** How often the node is asked for its head while there is nothing to read, even if it announces new heads. */
const POLL_MS = 100;

export async function* readNode(
  source: NodeSource,
  job: ImportJob,
  host: SourceHost,
): AsyncGenerator<SourceStep> {
  const {genesisPath, nodes: settings, subscriptions, follow, to} = source;
  const {writer, signal, onEvent} = host;
  const known = writer.chain?.chainId ?? job.chainId;
  const file = genesisPath === undefined ? undefined : await readGenesis(genesisPath, signal);
  const {genesis, cannotExecute} = readRules(file, source.source, writer, known);
  const chainId = expectedChainId(genesis, known);
  const watch = new NodeWatch(settings.urls.length, onEvent);
  const nodes = new Nodes({...settings, chainId}, event => watch.noteNode(event));
  const heads = new HeadSignal({...settings, urls: subscriptions, pollMs: POLL_MS}, onEvent);
  let executed: ExecuteReader | undefined;
  let archive: Nodes | undefined;
  try {
    const ask = <T>(work: (node: Node) => Promise<T>): Promise<T> => nodes.use(work, signal);
    const contracts = findSliced(source, host);
    const hasGenesis = genesis !== undefined;
    const choice =
      contracts === undefined
        ? await chooseSource({asked: source.source, writer, hasGenesis, cannotExecute, ask})
        : ({source: "slice", why: "the store has slices"} as const);
    onEvent({kind: "chosen", ...choice});
    const survey =
      follow || to !== undefined ? new HeadSurvey(nodes, writer, source.surveyAfterMs) : undefined;
    const chainOf: NodeChain = {nodes, heads, survey, watch, host};
    if (contracts !== undefined) {
      const askId = (): Promise<unknown> => ask(node => node.request("eth_chainId", []));
      const chain = {
        chainId: chainId ?? parseQuantity(await askId(), "eth_chainId", 256),
        config: genesis?.config,
      };
      const known = (host.reader.readSlice() ?? []).filter(({to}) => to === undefined);
      archive = source.archive && new Nodes({...source.archive, chainId: chain.chainId}, onEvent);
      const read = new SliceReader(
        {
          ...{contracts, chain, from: source.sliceFrom},
          useArchive: archive && (work => (archive as Nodes).use(work, signal)),
        },
        new Map(known.map(({address, from}) => [address, from])),
        () => writer.latest === undefined,
      );
      yield* readNodeBlocks(chainOf, read, follow ? undefined : (to ?? "head"));
      return;
    }
    if (choice.source === "execute") executed = new ExecuteReader(genesis?.forks ?? readForks(writer), host);
    if (writer.latest === undefined && genesis !== undefined)
      yield await readNodeGenesis(genesis, chainOf, executed ?? new ExecuteReader(genesis.forks, host));
    const read =
      choice.source === "trielogs"
        ? new TrieLogReader(chainId)
        : new TraceReader(
            recoverAuthority,
            () => writer.trie !== undefined,
            (name, why) => onEvent({kind: "method", name, method: "traces with codes", why}),
          );
    yield* readNodeBlocks(chainOf, executed ?? read, follow ? undefined : (to ?? "head"));
  } catch (error) {
    throw signal.aborted ? new Stopped() : error;
  } finally {
    await Promise.all([nodes.close(), archive?.close(), heads.close(), executed?.execution.senders.close()]);
  }
}

/** @returns the contracts of a store of slices; undefined: the whole chain is stored. @throws SettingsFault */
function findSliced(
  {contracts, source, sliceFrom}: NodeSource,
  {reader, writer}: SourceHost,
): readonly SlicedAddress[] | undefined {
  const stored = reader.readSlice();
  if (sliceFrom !== undefined && writer.latest !== undefined && sliceFrom < writer.firstBlock)
    throw new SettingsFault(
      `--slice-from: the store begins with block ${writer.firstBlock}, and older blocks cannot be added to it`,
    );
  if (stored !== undefined && source !== undefined)
    throw new SettingsFault(`--source ${source}: the store has slices, which have no other source`);
  if (contracts === undefined)
    return stored?.flatMap(({address, to}) => (to === undefined ? [{address, isWhole: false}] : []));
  if (stored === undefined && writer.latest !== undefined)
    throw new SettingsFault("--contracts: the store has the whole state; slices need a store of their own");
  if (reader.hasTrees)
    throw new SettingsFault(
      `--contracts: a store of slices needs the suite keccak, this one has ${reader.suiteName}`,
    );
  return contracts;
}

/**
 * Rules that are not supported are an error only where blocks are to be executed: by --source, or as those before were.
 *
 * @param file - the genesis file. @param chainId - of a file that does not name its chain
 * @returns why blocks cannot be executed, if that excludes a source. @throws ExecutionError
 */
function readRules(
  file: GenesisFile | undefined,
  asked: NodeSourceName | undefined,
  writer: BlockWriter,
  chainId: bigint | undefined,
): {readonly genesis: Genesis | undefined; readonly cannotExecute?: string} {
  const parseLoosely = () => file?.parse(false, chainId);
  if (asked !== undefined && asked !== "execute") return {genesis: parseLoosely()};
  try {
    if (file !== undefined) return {genesis: file.parse()};
    if (writer.chain?.config !== undefined) readForks(writer);
    return {genesis: undefined};
  } catch (error) {
    // Block 0 of a genesis file counts as executed.
    const isExecuted = writer.trie?.isExecuted === true && writer.latest !== 0;
    if (asked === "execute" || isExecuted || !(error instanceof ExecutionError)) throw error;
    return {genesis: parseLoosely(), cannotExecute: error.message};
  }
}

/** @returns the genesis file's, or else `known`. @throws SettingsFault if they differ */
function expectedChainId(genesis: Genesis | undefined, known: bigint | undefined): bigint | undefined {
  if (genesis === undefined) return known;
  if (known !== undefined && known !== genesis.chainId)
    throw new SettingsFault(`the genesis file: expected chain ${known}, got chain ${genesis.chainId}`);
  return genesis.chainId;
}

/** The forks that the store has recorded with block 0. @throws SettingsFault */
function readForks({chain}: BlockWriter): ForkSchedule {
  if (chain?.config === undefined)
    throw new SettingsFault(
      "the store does not have the chain's forks: give --genesis, whose config names them",
    );
  return new ForkSchedule(parseObject(JSON.parse(chain.config), "config"));
}
