/** The header of a URL's user and password (RFC 7617). */

/** @returns undefined for a URL without them. @throws URIError for a bad percent escape in them */
export function encodeAuthorization(url: URL): string | undefined {
  if (url.username === "" && url.password === "") return undefined;
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}
