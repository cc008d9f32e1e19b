import { expect, test } from "vitest";
import { Secret } from "../config/secret.ts";
import { signature } from "./bucket.ts";

/** The example "GET Bucket Lifecycle" in the documentation of Signature Version 4, with its result. */
test("a request has the signature that the documentation of the protocol gives for it (S2.34)", () => {
  const headers = signature(
    {
      keyId: "AKIAIOSFODNN7EXAMPLE",
      secret: new Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
      region: "us-east-1",
    },
    {
      method: "GET",
      url: new URL("https://examplebucket.s3.amazonaws.com/?lifecycle"),
      body: undefined,
      at: new Date("2013-05-24T00:00:00.000Z"),
    },
  );
  expect(headers).toEqual({
    "x-amz-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "x-amz-date": "20130524T000000Z",
    authorization: [
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request",
      "SignedHeaders=host;x-amz-content-sha256;x-amz-date",
      "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
    ].join(", "),
  });
});
