/**
 * Objects of a bucket, through the AWS SDK. The SDK is loaded on first use of this module, because it takes memory that
 * a server without a bucket does not need. Every call has a time limit and is repeated with back-off by the SDK.
 */
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';

export interface BucketOptions {
  /** `s3://bucket` or `s3://bucket/prefix`. */
  readonly url: string;
  /** URL of the store. Default: that of AWS in the region. */
  readonly endpoint?: string | undefined;
  /** Default: that of the SDK's environment; `us-east-1` for a store with an endpoint. */
  readonly region?: string | undefined;
  /** Default: those found by the SDK, in its variables, its files or the machine's role. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Whether the bucket is part of the path instead of the host name. */
  readonly pathStyle: boolean;
}

export interface S3Objects {
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** `undefined` if there is no such object. */
  get(key: string): Promise<Uint8Array | undefined>;
  remove(key: string): Promise<void>;
  close(): void;
}

/** Objects larger than this are sent in parts of this size, in bytes. */
const PART_BYTES = 16 * 1024 * 1024;
const ATTEMPTS = 3;
const CONNECT_MS = 1_000;
/** Time limits of one call, with its repetitions, in milliseconds. A reader waits for `get`, nobody for the others. */
const GET_MS = 2_000;
const PUT_MS = 5_000;
const PUT_MS_PER_MB = 500;
const REMOVE_MS = 10_000;

const URL_PATTERN = /^s3:\/\/([a-z\d][a-z\d.-]{1,61}[a-z\d])(?:\/([\w!.*'()/-]*))?$/;

/** Throws if the URL is not that of a bucket. */
export function parseBucketUrl(url: string): { readonly bucket: string; readonly prefix: string } {
  const match = URL_PATTERN.exec(url);
  if (!match) throw new Error('the URL of a bucket must be s3://bucket or s3://bucket/prefix');
  const prefix = (match[2] ?? '').replace(/^\/+|\/+$/g, '');
  return { bucket: match[1]!, prefix: prefix && `${prefix}/` };
}

export async function openS3Objects(options: BucketOptions): Promise<S3Objects> {
  const { bucket: Bucket, prefix } = parseBucketUrl(options.url);
  const sdk = await import('@aws-sdk/client-s3');
  // On Node 20 it says what future versions of the package need, which concerns us and not who runs the server.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const client = new sdk.S3Client(clientConfig(options));
  const objectOf = (key: string) => ({ Bucket, Key: prefix + key });
  return {
    async put(key, bytes) {
      const limit = { abortSignal: AbortSignal.timeout(Math.ceil(PUT_MS + (bytes.length / 1e6) * PUT_MS_PER_MB)) };
      if (bytes.length > PART_BYTES) return putInParts(sdk, client, objectOf(key), bytes, limit);
      await client.send(new sdk.PutObjectCommand({ ...objectOf(key), Body: bytes }), limit);
    },
    async get(key) {
      const abortSignal = AbortSignal.timeout(GET_MS);
      try {
        const { Body } = await client.send(new sdk.GetObjectCommand(objectOf(key)), { abortSignal });
        return await readAll(Body as AsyncIterable<Uint8Array> & { destroy(error: Error): void }, abortSignal);
      } catch (error) {
        if (error instanceof sdk.NoSuchKey) return undefined;
        throw error;
      }
    },
    async remove(key) {
      await client.send(new sdk.DeleteObjectCommand(objectOf(key)), { abortSignal: AbortSignal.timeout(REMOVE_MS) });
    },
    close: () => client.destroy(),
  };
}

function clientConfig({ endpoint, region, credentials, pathStyle }: BucketOptions): S3ClientConfig {
  return {
    ...(endpoint !== undefined && { endpoint, region: 'us-east-1' }),
    ...(region !== undefined && { region }),
    ...(credentials && { credentials }),
    forcePathStyle: pathStyle,
    // Many stores do not know the SDK's own checksums, and every read verifies the hash of the content.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_MS },
  };
}

/** The SDK's signal covers only the time until the headers arrive. */
async function readAll(
  body: AsyncIterable<Uint8Array> & { destroy(error: Error): void },
  signal: AbortSignal,
): Promise<Uint8Array> {
  const stop = () => body.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Parts are sent one after the other, so that an upload takes one connection. */
async function putInParts(
  sdk: typeof import('@aws-sdk/client-s3'),
  client: S3Client,
  object: { readonly Bucket: string; readonly Key: string },
  bytes: Uint8Array,
  limit: { readonly abortSignal: AbortSignal },
): Promise<void> {
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(object), limit);
  const upload = { ...object, UploadId };
  try {
    const Parts: { ETag: string | undefined; PartNumber: number }[] = [];
    for (let at = 0; at < bytes.length; at += PART_BYTES) {
      const PartNumber = Parts.length + 1;
      const part = { ...upload, PartNumber, Body: bytes.subarray(at, at + PART_BYTES) };
      const { ETag } = await client.send(new sdk.UploadPartCommand(part), limit);
      Parts.push({ ETag, PartNumber });
    }
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }), limit);
  } catch (error) {
    const abort = new sdk.AbortMultipartUploadCommand(upload);
    await client.send(abort, { abortSignal: AbortSignal.timeout(REMOVE_MS) }).catch(() => {});
    throw error;
  }
}
