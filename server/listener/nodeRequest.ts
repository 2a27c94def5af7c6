/** A request of node:http as HttpRequest. */
import type {IncomingMessage} from "node:http";
import type {HttpRequest} from "./exchange.ts";

export class NodeRequest implements HttpRequest {
  constructor(private readonly request: IncomingMessage) {}

  getMethod(): string {
    return String(this.request.method).toLowerCase();
  }

  getUrl(): string {
    const url = String(this.request.url);
    const end = url.indexOf("?");
    return end === -1 ? url : url.slice(0, end);
  }

  forEach(visit: (name: string, value: string) => void): void {
    const {rawHeaders} = this.request;
    for (let at = 0; at < rawHeaders.length; at += 2)
      visit((rawHeaders[at] as string).toLowerCase(), rawHeaders[at + 1] as string);
  }
}
