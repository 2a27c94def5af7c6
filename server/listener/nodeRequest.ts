import type {IncomingMessage} from "node:http";
import type {HttpRequest} from "./exchange.ts";

/** A target as clients send it to proxies, and as servers must read it (RFC 9112, 3.2.2): http://HOST/PATH?QUERY. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?]+)(.*)$/i;

export class NodeRequest implements HttpRequest {
  private readonly path: string;
  private readonly query: string;
  /** Of a target in absolute form. It counts in place of the Host header. */
  private readonly host: string | undefined;

  constructor(private readonly request: IncomingMessage) {
    const target = String(request.url);
    const [, host, rest = target] = target.startsWith("/") ? [] : (ABSOLUTE_FORM.exec(target) ?? []);
    this.host = host;
    const end = rest.indexOf("?");
    const path = end === -1 ? rest : rest.slice(0, end);
    this.path = path === "" ? "/" : path;
    this.query = end === -1 ? "" : rest.slice(end + 1);
  }

  getCaseSensitiveMethod(): string {
    return String(this.request.method);
  }

  getUrl(): string {
    return this.path;
  }

  getQuery(): string {
    return this.query;
  }

  forEach(visit: (name: string, value: string) => void): void {
    const {rawHeaders} = this.request;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = (rawHeaders[at] as string).toLowerCase();
      visit(name, name === "host" && this.host !== undefined ? this.host : (rawHeaders[at + 1] as string));
    }
  }
}
