/** The bench's own view of a stream. */
import {FeedStream} from "../../sync/feed/feedStream.ts";
import {connectNats} from "../../sync/feed/natsConnection.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import {BENCH_CHAIN} from "../stages/benchContracts.ts";

const RULES = {replicas: 1, maxAgeMs: 7 * 24 * 3600 * 1000, maxBytes: 1e9};

/** Runs `work` with a stream, which is made if there is none. The connection to NATS is closed then. */
export async function withStream<Found>(
  nats: ServerProcess,
  name: string,
  suite: string,
  work: (stream: FeedStream) => Promise<Found>,
): Promise<Found> {
  const settings = {urls: [`nats://${nats.url.host}`], credsPath: undefined};
  const connection = await connectNats(settings, "proofd bench", new AbortController().signal, () => {});
  try {
    const chain = {suite, chainId: BENCH_CHAIN.chainId as bigint};
    return await work(await FeedStream.open(connection, name, chain, RULES));
  } finally {
    await connection.close();
  }
}
