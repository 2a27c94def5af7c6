/** The page at `/` (page/), one file. Its policy allows its own style and script, by hash, and this server: no more. */
import {createHash} from "node:crypto";
import {readFileSync} from "node:fs";
import type {Header} from "./cors.ts";
import {sendWhole} from "./refusals.ts";
import type {Reply} from "./reply.ts";

const FILE = new URL("../../page/page.html", import.meta.url);

export class WebPage {
  private readonly text = readFileSync(FILE, "utf8");
  private readonly headers: readonly Header[] = [
    ["Content-Type", "text/html; charset=utf-8"],
    ["Content-Security-Policy", writePolicy(this.text)],
    ["X-Content-Type-Options", "nosniff"],
    ["Referrer-Policy", "no-referrer"],
    ["Cache-Control", "no-cache"],
  ];

  /** @param verb - "head" gets only the headers */
  answer(reply: Reply, verb: string): void {
    sendWhole(reply, verb, "200 OK", this.headers, this.text);
  }
}

function writePolicy(page: string): string {
  const hash = (tag: string) => {
    const text = new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`).exec(page)?.[1] ?? "";
    return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  };
  return [
    "default-src 'none'",
    `script-src ${hash("script")}`,
    `style-src ${hash("style")}`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
}
