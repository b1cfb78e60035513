import { ServiceError } from "./errors.js";

/** Status codes to retry. */
const RETRIED = new Set([429, 502, 503, 504]);
/** Milliseconds of the first pause, and of the longest; each is twice the one before, minus up to a half. */
const [FIRST, LONGEST] = [50, 2_000];

/** Requests to a service: sent, and sent again until they are answered. */
export class Requests {
  constructor(
    readonly url: string,
    readonly timeout: number,
    readonly deadline: number,
  ) {}

  /** The JSON of the response to a request, which is a POST if it has a body. */
  async answer(path: string, key: string, body?: object): Promise<any> {
    const request: RequestInit = {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body), // the same for every attempt
      credentials: "omit",
      redirect: "error", // to elsewhere
      referrerPolicy: "no-referrer",
      cache: "no-store",
      keepalive: body !== undefined, // also when the page is left meanwhile
    };
    const end = performance.now() + this.deadline;
    for (let attempts = 1; ; attempts++) {
      const given = Math.max(1, Math.ceil(Math.min(this.timeout, end - performance.now())));
      const reply = await attempt(this.url + path, { ...request, signal: AbortSignal.timeout(given) });
      if (reply?.ok) return parsed(reply.text) ?? fail("bad_answer", reply.status, attempts);
      const pause = pauseAfter(attempts, reply?.retryAfter ?? null);
      if ((reply && !RETRIED.has(reply.status)) || performance.now() + pause >= end) {
        return fail(reply ? codeOf(reply) : "unreachable", reply?.status, attempts);
      }
      await new Promise((resume) => setTimeout(resume, pause));
    }
  }
}

interface Reply {
  readonly ok: boolean;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** A whole response, or nothing: the error would hold the request. */
async function attempt(url: string, request: RequestInit): Promise<Reply | undefined> {
  try {
    const response = await fetch(url, request);
    const { ok, status, headers } = response;
    return { ok, status, retryAfter: headers.get("retry-after"), text: await response.text() };
  } catch {
    return undefined;
  }
}

function pauseAfter(attempts: number, asked: string | null): number {
  const drawn = Math.min(LONGEST, FIRST * 2 ** (attempts - 1)) * (1 - 0.5 * Math.random());
  const wanted = 1_000 * Number(asked ?? NaN);
  return wanted >= 0 && wanted < 1e9 ? Math.max(drawn, wanted + 100 * Math.random()) : drawn;
}

function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The service's code, or the status of something in front of it. Its message is not repeated. */
function codeOf(reply: Reply): string {
  const code = parsed(reply.text)?.error?.code;
  return typeof code === "string" && /^[a-z_]{1,50}$/.test(code) ? code : `http_${reply.status}`;
}

const MESSAGES: Readonly<Record<string, string>> = {
  unreachable: "The service did not answer.",
  bad_answer: "The response is not from this service, or from another version of it.",
};

function fail(code: string, status: number | undefined, attempts: number): never {
  throw new ServiceError(code, MESSAGES[code] ?? "The service refused the request.", status, attempts);
}

const WRONG_URL = "The 'url' must be like https://shop.example[:port][/path].";

/** A URL without a trailing slash; plain HTTP only to this machine, unless it is allowed. */
export function checkedUrl(url: string, allowInsecure: boolean): string {
  const parts = parsedUrl(url);
  if (!/^https?:$/.test(parts.protocol) || parts.username || parts.password || parts.search || parts.hash) {
    throw new TypeError(WRONG_URL);
  }
  const { protocol, hostname } = parts;
  const here = hostname === "localhost" || hostname === "[::1]" || /^127\.[\d.]+$/.test(hostname);
  if (protocol === "http:" && !here && !allowInsecure) {
    throw new TypeError("Over plain http keys can be read on the way: use https, or 'allowInsecure'.");
  }
  return url.replace(/\/+$/, "");
}

function parsedUrl(url: string): URL {
  try {
    return new URL(url);
  } catch {
    throw new TypeError(WRONG_URL); // the browser's own error may quote it
  }
}

/** A key that fits into a header; it is never quoted. */
export function checkedKey(key: string): string {
  if (typeof key !== "string" || !/^[!-~]{1,500}$/.test(key)) {
    throw new TypeError("A key or token must be printable characters without spaces.");
  }
  return key;
}
