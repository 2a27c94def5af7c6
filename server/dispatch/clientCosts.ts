/** The cost of what a lane has to do, by client: whether a client may have more. */
import {ClientCounts} from "../rpc/clientCounts.ts";
import {type Fill, findFull} from "./busy.ts";

export class ClientCosts {
  /** Of all clients. */
  total = 0;
  private readonly byClient = new ClientCounts();
  /** As `total`, of each client at most `limit`, so that no request fills the lane for others, whatever it costs. */
  private counted = 0;

  /** @param limit - a client that has reached it may add nothing */
  constructor(private readonly limit: number) {}

  add(client: string, cost: number): void {
    const after = this.byClient.add(client, cost);
    this.total += cost;
    this.counted += Math.min(after, this.limit) - Math.min(after - cost, this.limit);
  }

  /** @returns the limit that is reached. undefined: there is room for more of the client's */
  findFull(client: string): Fill | undefined {
    return findFull(this.byClient.of(client), this.counted, this.limit);
  }
}
