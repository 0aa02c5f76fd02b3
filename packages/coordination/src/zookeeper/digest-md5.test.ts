import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerDigestChallenge } from './digest-md5.ts';
import { InvalidAnswerError } from './jute.ts';

const credentials = { username: 'broker', password: 'secret' };
const challenge = 'realm="zk-sasl-md5",nonce="Yg5V+m\\"x",qop="auth",charset=utf-8,algorithm=md5-sess';

describe('DIGEST-MD5', () => {
  const impossible: [name: string, challenge: string][] = [
    ['has no nonce', 'realm="r",algorithm=md5-sess'],
    ['has another algorithm', 'nonce="n",algorithm=sha-256'],
    ['wants encryption', 'nonce="n",algorithm=md5-sess,qop="auth-int,auth-conf"'],
    ['is empty', ''],
    ['is noise', '\u0000\u0001\u0002=="",,"'],
  ];
  for (const [name, text] of impossible) {
    it(`does not answer a challenge that ${name}`, () => {
      assert.throws(() => answerDigestChallenge(Buffer.from(text), credentials, 'c'), InvalidAnswerError);
    });
  }

  it('quotes what is in quotes', () => {
    const { response } = answerDigestChallenge(Buffer.from(challenge), { ...credentials, username: 'a"b\\c' }, 'cn');
    assert.match(response.toString(), /username="a\\"b\\\\c",realm="zk-sasl-md5",nonce="Yg5V\+m\\"x",nc=00000001,cnonce="cn"/);
  });

  it('does not believe a server that cannot prove its knowledge', () => {
    const { verify } = answerDigestChallenge(Buffer.from(challenge), credentials, 'cn');
    for (const word of ['', 'rspauth=00000000000000000000000000000000', 'rspauth=']) {
      assert.throws(() => verify(Buffer.from(word)), /does not know the password/);
    }
  });
});
