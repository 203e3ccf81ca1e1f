// Polynomials of the device library in double precision, made by fit.py: change them there.
// The comment of each: what it approximates, where, and its relative error before rounding.
#pragma once

// (exp(t) - 1 - t) / t^2, t in [-0.350039, 0.350039]: 2^-58.1
INLINE real exp_tail(real t) {
    real p = 0x1.1f75aba0b1e2ep-29;
    p = FMA(p, t, 0x1.af52906239de4p-26);
    p = FMA(p, t, 0x1.27e4da1a3bf04p-22);
    p = FMA(p, t, 0x1.71ddffef9e7b1p-19);
    p = FMA(p, t, 0x1.a01a01a741b3cp-16);
    p = FMA(p, t, 0x1.a01a01aca0134p-13);
    p = FMA(p, t, 0x1.6c16c16c16212p-10);
    p = FMA(p, t, 0x1.111111110ff87p-7);
    p = FMA(p, t, 0x1.5555555555556p-5);
    p = FMA(p, t, 0x1.5555555555557p-3);
    p = FMA(p, t, 0x1.0000000000000p-1);
    return p;
}

// (2 atanh(s) - 2 s) / s^3 of t = s^2, t in [0.0, 0.0298]: 2^-50.8
INLINE real log_tail(real t) {
    real p = 0x1.2bb00cdf507cap-3;
    p = FMA(p, t, 0x1.39f73b9ce4a4ep-3);
    p = FMA(p, t, 0x1.7462ec06a322ap-3);
    p = FMA(p, t, 0x1.c71c6221cac72p-3);
    p = FMA(p, t, 0x1.2492492e8bb1ap-2);
    p = FMA(p, t, 0x1.9999999994d67p-2);
    p = FMA(p, t, 0x1.5555555555558p-1);
    return p;
}

// (2 atanh(s) - 2 s - 2/3 s^3) / s^5 of t = s^2, t in [0.0, 0.0298]: 2^-57.5
INLINE real log_tail_2(real t) {
    real p = 0x1.e0d21a2ee55f9p-4;
    p = FMA(p, t, 0x1.df6d09adb532ep-4);
    p = FMA(p, t, 0x1.1119139fc2dbbp-3);
    p = FMA(p, t, 0x1.3b13946b71e76p-3);
    p = FMA(p, t, 0x1.745d177df69e8p-3);
    p = FMA(p, t, 0x1.c71c71c6e6caap-3);
    p = FMA(p, t, 0x1.249249249252ep-2);
    p = FMA(p, t, 0x1.999999999999ap-2);
    return p;
}

// (sin(x) - x) / x^3 of t = x^2, t in [0.0, 0.629187]: 2^-52.6
INLINE real sin_tail(real t) {
    real p = 0x1.5dfb4dfaf15abp-33;
    p = FMA(p, t, -0x1.ae5fdeb852566p-26);
    p = FMA(p, t, 0x1.71de376b9c575p-19);
    p = FMA(p, t, -0x1.a01a019e623afp-13);
    p = FMA(p, t, 0x1.1111111110b23p-7);
    p = FMA(p, t, -0x1.5555555555555p-3);
    return p;
}

// (cos(x) - 1 + x^2 / 2) / x^4 of t = x^2, t in [0.0, 0.629187]: 2^-54.7
INLINE real cos_tail(real t) {
    real p = -0x1.906dd38cb66a1p-37;
    p = FMA(p, t, 0x1.1eeb52bea9072p-29);
    p = FMA(p, t, -0x1.27e4fa025e03dp-22);
    p = FMA(p, t, 0x1.a01a019f3df42p-16);
    p = FMA(p, t, -0x1.6c16c16c1691fp-10);
    p = FMA(p, t, 0x1.5555555555555p-5);
    return p;
}

// (sin(pi x) - pi x) / x^3 of t = x^2, t in [0.0, 0.0626]: 2^-52.8
INLINE real sinpi_tail(real t) {
    real p = 0x1.e4a8191d23fbdp-12;
    p = FMA(p, t, -0x1.e30279f9b31c3p-8);
    p = FMA(p, t, 0x1.5078320572ecap-4);
    p = FMA(p, t, -0x1.32d2cce4fe4d3p-1);
    p = FMA(p, t, 0x1.466bc6775a469p+1);
    p = FMA(p, t, -0x1.4abbce625be52p+2);
    return p;
}

// (cos(pi x) - 1) / x^2 of t = x^2, t in [0.0, 0.0626]: 2^-61.1
INLINE real cospi_tail(real t) {
    real p = -0x1.b2f25091bacb5p-14;
    p = FMA(p, t, 0x1.f9ce1ff2fb645p-10);
    p = FMA(p, t, -0x1.a6d1eeeff5621p-6);
    p = FMA(p, t, 0x1.e1f50686849d7p-3);
    p = FMA(p, t, -0x1.55d3c7e3cb225p+0);
    p = FMA(p, t, 0x1.03c1f081b5ac0p+2);
    p = FMA(p, t, -0x1.3bd3cc9be45dep+2);
    return p;
}

// (asin(x) - x) / x^3 of t = x^2, t in [0.0, 0.25]: 2^-57.4
INLINE real asin_tail(real t) {
    real p = 0x1.e529c6fce9bb4p-6;
    p = FMA(p, t, -0x1.3b416bb7d9257p-6);
    p = FMA(p, t, 0x1.406192d124629p-6);
    p = FMA(p, t, 0x1.8f193743418ffp-9);
    p = FMA(p, t, 0x1.31622469ce5adp-7);
    p = FMA(p, t, 0x1.3b49de7121487p-7);
    p = FMA(p, t, 0x1.7b027ee1dd585p-7);
    p = FMA(p, t, 0x1.c990ad3d8fdcap-7);
    p = FMA(p, t, 0x1.1c4efce23019fp-6);
    p = FMA(p, t, 0x1.6e8ba123e494cp-6);
    p = FMA(p, t, 0x1.f1c71c7a52ba3p-6);
    p = FMA(p, t, 0x1.6db6db6dac1e0p-5);
    p = FMA(p, t, 0x1.3333333333388p-4);
    p = FMA(p, t, 0x1.5555555555555p-3);
    return p;
}

// (atan(x) - x) / x^3 of t = x^2, t in [0.0, 1.0]: 2^-55.9
INLINE real atan_tail(real t) {
    real p = -0x1.8d087295ab9f4p-17;
    p = FMA(p, t, 0x1.1f0adb240a1fbp-13);
    p = FMA(p, t, -0x1.8a2f3ae537bb1p-11);
    p = FMA(p, t, 0x1.57cc888719aa0p-9);
    p = FMA(p, t, -0x1.aef1a8e977bf8p-8);
    p = FMA(p, t, 0x1.a1fe88baf72d4p-7);
    p = FMA(p, t, -0x1.4b974a27ac39fp-6);
    p = FMA(p, t, 0x1.c3ac54a572735p-6);
    p = FMA(p, t, -0x1.147b2825d82f6p-5);
    p = FMA(p, t, 0x1.3d3f26d5ea7ffp-5);
    p = FMA(p, t, -0x1.60ebd1489b946p-5);
    p = FMA(p, t, 0x1.854a7b99af61dp-5);
    p = FMA(p, t, -0x1.af00bd568a3d2p-5);
    p = FMA(p, t, 0x1.e1dc0d7679adcp-5);
    p = FMA(p, t, -0x1.1110bfea8ed5ep-4);
    p = FMA(p, t, 0x1.3b13aaf4aba4ap-4);
    p = FMA(p, t, -0x1.745d16f26d0a3p-4);
    p = FMA(p, t, 0x1.c71c71c472843p-4);
    p = FMA(p, t, -0x1.249249248c7dap-3);
    p = FMA(p, t, 0x1.99999999998f9p-3);
    p = FMA(p, t, -0x1.5555555555555p-2);
    return p;
}

// (sinh(x) - x) / x^3 of t = x^2, t in [0.0, 1.0]: 2^-58.7
INLINE real sinh_tail(real t) {
    real p = 0x1.b41232cf9950fp-41;
    p = FMA(p, t, 0x1.611cb330c1fe8p-33);
    p = FMA(p, t, 0x1.ae6460fae3728p-26);
    p = FMA(p, t, 0x1.71de3a4e14f40p-19);
    p = FMA(p, t, 0x1.a01a01a01ee70p-13);
    p = FMA(p, t, 0x1.11111111110fdp-7);
    p = FMA(p, t, 0x1.5555555555555p-3);
    return p;
}

// (tanh(x) - x) / x^3 of t = x^2, t in [0.0, 0.31]: 2^-60.0
INLINE real tanh_tail(real t) {
    real p = 0x1.03d76653b6efap-17;
    p = FMA(p, t, -0x1.191c07e7b23f7p-15);
    p = FMA(p, t, 0x1.8bf753b8fde4cp-14);
    p = FMA(p, t, -0x1.f3fe7b8a9cf0fp-13);
    p = FMA(p, t, 0x1.3545e56db2c1ep-11);
    p = FMA(p, t, -0x1.7da238d94650ap-10);
    p = FMA(p, t, 0x1.d6d3c42c2a75fp-9);
    p = FMA(p, t, -0x1.226e3532816a5p-7);
    p = FMA(p, t, 0x1.664f48820d7b1p-6);
    p = FMA(p, t, -0x1.ba1ba1ba1a259p-5);
    p = FMA(p, t, 0x1.1111111111107p-3);
    p = FMA(p, t, -0x1.5555555555555p-2);
    return p;
}

// erf(x) / x - 1 of t = x^2, t in [0.0, 1.0]: 2^-56.3
INLINE real erf_tail(real t) {
    real p = 0x1.05ffd737fb32ep-34;
    p = FMA(p, t, -0x1.389d4f2641625p-30);
    p = FMA(p, t, 0x1.f7b4bf3b13964p-27);
    p = FMA(p, t, -0x1.5f1ecb6f0764cp-23);
    p = FMA(p, t, 0x1.b9df224ca4b97p-20);
    p = FMA(p, t, -0x1.f4d1e3183f7aep-17);
    p = FMA(p, t, 0x1.f9a321d5b8e1ep-14);
    p = FMA(p, t, -0x1.c02db3dac435fp-11);
    p = FMA(p, t, 0x1.565bcd0dbaa38p-8);
    p = FMA(p, t, -0x1.b82ce31284e00p-6);
    p = FMA(p, t, 0x1.ce2f21a042b30p-4);
    p = FMA(p, t, -0x1.812746b0379e6p-2);
    p = FMA(p, t, 0x1.06eba8214db69p-3);
    return p;
}

// (1 + 2 x) erfcx(x) of t = (x - 4) / (x + 4), t in [-1.0, 1.0]: 2^-56.5
INLINE real erfcx_part(real t) {
    real p = -0x1.2feb115e10ff8p-32;
    p = FMA(p, t, 0x1.ff247156a53a2p-31);
    p = FMA(p, t, 0x1.bc41def3d5cc5p-29);
    p = FMA(p, t, -0x1.a7f4a11380e73p-27);
    p = FMA(p, t, -0x1.64110b1736fb3p-26);
    p = FMA(p, t, 0x1.c8a212189b424p-24);
    p = FMA(p, t, 0x1.4dcd6b6d85452p-24);
    p = FMA(p, t, -0x1.b8ce493292da5p-21);
    p = FMA(p, t, 0x1.393f4d359a7fdp-22);
    p = FMA(p, t, 0x1.7ef644c7815aap-18);
    p = FMA(p, t, -0x1.7884d2487d5efp-17);
    p = FMA(p, t, -0x1.99537515467bep-16);
    p = FMA(p, t, 0x1.3be0432bfa860p-13);
    p = FMA(p, t, -0x1.a1df5e81f57b4p-13);
    p = FMA(p, t, -0x1.8d4a9a6465372p-11);
    p = FMA(p, t, 0x1.49c672e199469p-8);
    p = FMA(p, t, -0x1.09623884747dbp-6);
    p = FMA(p, t, 0x1.3079edf5181dfp-5);
    p = FMA(p, t, -0x1.0fb06dfe4c6c0p-4);
    p = FMA(p, t, 0x1.7fee004e1eefep-4);
    p = FMA(p, t, -0x1.9ddb23c3e8f13p-4);
    p = FMA(p, t, 0x1.16ecefcfa4d10p-4);
    p = FMA(p, t, 0x1.f7f5df66fd797p-7);
    p = FMA(p, t, -0x1.1df1ad154a286p-3);
    p = FMA(p, t, 0x1.3ba5916e9fd7fp+0);
    return p;
}

// erfinv(x) / x - 1 of t = w - 3, w = -log(1 - x^2), t in [-3.0, 3.0]: 2^-50.0
INLINE real erfinv_centre(real t) {
    real p = 0x1.47a851c2cf954p-68;
    p = FMA(p, t, -0x1.81ab51d514e6cp-67);
    p = FMA(p, t, -0x1.ce564b0e47e8ep-62);
    p = FMA(p, t, 0x1.2d37ac45dfdd5p-59);
    p = FMA(p, t, 0x1.dafb4fe02a26cp-57);
    p = FMA(p, t, -0x1.76cf01ba6594bp-53);
    p = FMA(p, t, 0x1.3bf80cf783e3dp-52);
    p = FMA(p, t, 0x1.c8c5f47132742p-48);
    p = FMA(p, t, -0x1.dcbfa03933bc4p-45);
    p = FMA(p, t, 0x1.be17c2f60be00p-48);
    p = FMA(p, t, 0x1.7bd8787070135p-39);
    p = FMA(p, t, -0x1.30d8ccf28c4eap-36);
    p = FMA(p, t, -0x1.146c0ceeb112fp-35);
    p = FMA(p, t, 0x1.31556b71e4d10p-30);
    p = FMA(p, t, -0x1.77b3a13c70ca6p-28);
    p = FMA(p, t, -0x1.96f81eb1e4c7fp-26);
    p = FMA(p, t, 0x1.e32b0d49a4fdfp-22);
    p = FMA(p, t, -0x1.d539ca175ac91p-20);
    p = FMA(p, t, -0x1.aab13d1c2749ep-17);
    p = FMA(p, t, 0x1.9912c04a501f2p-13);
    p = FMA(p, t, -0x1.b6666b152b661p-11);
    p = FMA(p, t, -0x1.780def1d3f3ffp-8);
    p = FMA(p, t, 0x1.eedbebdce73e6p-3);
    p = FMA(p, t, 0x1.3f40e5dae5b77p-1);
    return p;
}

// erfinv(x) / x - 1 of t = sqrt(w) - 3.2, t in [-0.76, 0.81]: 2^-58.3
INLINE real erfinv_near(real t) {
    real p = 0x1.13b1e2b018e6cp-27;
    p = FMA(p, t, -0x1.9252d648b836dp-26);
    p = FMA(p, t, -0x1.e07b33f453f01p-29);
    p = FMA(p, t, 0x1.34df9b657ac5bp-23);
    p = FMA(p, t, -0x1.8546f064357dcp-22);
    p = FMA(p, t, 0x1.cbe2d2e7b3bb4p-23);
    p = FMA(p, t, 0x1.7c501efb66b95p-20);
    p = FMA(p, t, -0x1.503b9b3b59db6p-18);
    p = FMA(p, t, 0x1.89306a10b68d1p-18);
    p = FMA(p, t, 0x1.4adf5d6e23cb4p-17);
    p = FMA(p, t, -0x1.c12212a2d64f2p-15);
    p = FMA(p, t, 0x1.886d7ef4bfecap-14);
    p = FMA(p, t, -0x1.9ba1f978867cep-17);
    p = FMA(p, t, -0x1.77262063d43bap-12);
    p = FMA(p, t, 0x1.1ab5d10c72490p-10);
    p = FMA(p, t, -0x1.053a669c5730dp-9);
    p = FMA(p, t, 0x1.82c51946bd61dp-9);
    p = FMA(p, t, -0x1.196c225e9f2c3p-8);
    p = FMA(p, t, 0x1.877527b86abbfp-8);
    p = FMA(p, t, 0x1.0133861c5d96bp+0);
    p = FMA(p, t, 0x1.044e340984c07p+1);
    return p;
}

// erfinv(x) / x - 1 of t = sqrt(w) - 5, t in [-1.01, 1.2]: 2^-57.8
INLINE real erfinv_far(real t) {
    real p = 0x1.29449780224aep-38;
    p = FMA(p, t, -0x1.5dc55d06b2b95p-36);
    p = FMA(p, t, 0x1.9448ea337b5b3p-36);
    p = FMA(p, t, 0x1.27688b53c7ea3p-34);
    p = FMA(p, t, -0x1.b5c4c4346e541p-32);
    p = FMA(p, t, 0x1.6b07d23d64ed3p-30);
    p = FMA(p, t, -0x1.e2f77bbc5d7c2p-29);
    p = FMA(p, t, 0x1.0c92868dce37bp-27);
    p = FMA(p, t, -0x1.059b819a5a4ccp-26);
    p = FMA(p, t, 0x1.f2969f4f984f2p-26);
    p = FMA(p, t, -0x1.2232964536919p-24);
    p = FMA(p, t, 0x1.ebe2886a52adbp-23);
    p = FMA(p, t, -0x1.0a904ad112716p-20);
    p = FMA(p, t, 0x1.2fbcfe6f9ad57p-18);
    p = FMA(p, t, -0x1.4a3490117f8f6p-16);
    p = FMA(p, t, 0x1.3ebf4ef9b3484p-14);
    p = FMA(p, t, -0x1.c2f36aa1c0631p-13);
    p = FMA(p, t, -0x1.22ea5df1c5612p-13);
    p = FMA(p, t, 0x1.02a30d1fba10cp+0);
    p = FMA(p, t, 0x1.ecc9bba35aff6p+1);
    return p;
}

// erfinv(x) / x - 1 of t = sqrt(w) - 9, t in [-3.0, 3.1]: 2^-56.0
INLINE real erfinv_farther(real t) {
    real p = -0x1.b41576969db1cp-65;
    p = FMA(p, t, 0x1.1d743354683c6p-61);
    p = FMA(p, t, -0x1.644244829872cp-59);
    p = FMA(p, t, 0x1.731e0919aeedcp-56);
    p = FMA(p, t, -0x1.0050aafedf769p-52);
    p = FMA(p, t, 0x1.2483c02439e90p-49);
    p = FMA(p, t, -0x1.3c403dee45ddbp-46);
    p = FMA(p, t, 0x1.581d610b4b99ap-43);
    p = FMA(p, t, -0x1.71566adb4c2e9p-40);
    p = FMA(p, t, 0x1.82f8bb7c2c5d3p-37);
    p = FMA(p, t, -0x1.899919db22812p-34);
    p = FMA(p, t, 0x1.7fef39e38dacbp-31);
    p = FMA(p, t, -0x1.5e5f564abde74p-28);
    p = FMA(p, t, 0x1.1a168027686f3p-25);
    p = FMA(p, t, -0x1.461c7a9eebd42p-23);
    p = FMA(p, t, -0x1.fc7f58c5d088cp-23);
    p = FMA(p, t, 0x1.58dc927bf1cdbp-16);
    p = FMA(p, t, -0x1.accd56c8e8c75p-12);
    p = FMA(p, t, 0x1.01b8e2742818dp+0);
    p = FMA(p, t, 0x1.f897e3567916cp+2);
    return p;
}

// erfinv(x) / x - 1 of t = sqrt(w) - 19, t in [-7.01, 8.4]: 2^-55.7
INLINE real erfinv_farthest(real t) {
    real p = 0x1.52fbb3ce27e54p-91;
    p = FMA(p, t, -0x1.5a0a755f9be66p-86);
    p = FMA(p, t, 0x1.f38e8b31e3dd3p-83);
    p = FMA(p, t, -0x1.efffaaeaa9697p-80);
    p = FMA(p, t, 0x1.5b42f2931ec8ap-75);
    p = FMA(p, t, -0x1.e7080a850526bp-71);
    p = FMA(p, t, 0x1.e96d267980fd3p-67);
    p = FMA(p, t, -0x1.c5bee9909d709p-63);
    p = FMA(p, t, 0x1.9dcb858041feep-59);
    p = FMA(p, t, -0x1.4b9dfb5510638p-55);
    p = FMA(p, t, 0x1.65660343a266cp-52);
    p = FMA(p, t, 0x1.1f8b79ae0e498p-49);
    p = FMA(p, t, -0x1.ce60a8d001b64p-43);
    p = FMA(p, t, 0x1.07d7ea26b1e12p-37);
    p = FMA(p, t, -0x1.e5c503ed0c82ep-33);
    p = FMA(p, t, 0x1.983aa1164d39fp-28);
    p = FMA(p, t, -0x1.47efc32601239p-23);
    p = FMA(p, t, 0x1.0255bb2736863p-18);
    p = FMA(p, t, -0x1.97ba7f32c097dp-14);
    p = FMA(p, t, 0x1.00a61f319561cp+0);
    p = FMA(p, t, 0x1.1ecf50e432de1p+4);
    return p;
}

// lgamma(1 + t) / t, t in [-0.2501, 0.5]: 2^-60.5
INLINE real lgamma_at_1(real t) {
    real p = -0x1.88b1344ae0684p-8;
    p = FMA(p, t, 0x1.810cee521f430p-6);
    p = FMA(p, t, -0x1.642405bba36ccp-5);
    p = FMA(p, t, 0x1.b765f1c10187bp-5);
    p = FMA(p, t, -0x1.c40867a33358bp-5);
    p = FMA(p, t, 0x1.c9646601b0525p-5);
    p = FMA(p, t, -0x1.dfb0596f78b05p-5);
    p = FMA(p, t, 0x1.ff462b4ca4210p-5);
    p = FMA(p, t, -0x1.111b6b82e1b97p-4);
    p = FMA(p, t, 0x1.249ecbd4216c1p-4);
    p = FMA(p, t, -0x1.3b1e0641d9589p-4);
    p = FMA(p, t, 0x1.556a80787cc99p-4);
    p = FMA(p, t, -0x1.748c2874208c2p-4);
    p = FMA(p, t, 0x1.9a01e58318db9p-4);
    p = FMA(p, t, -0x1.c80670c6437f8p-4);
    p = FMA(p, t, 0x1.010b36ac58d2ep-3);
    p = FMA(p, t, -0x1.2703a1dc337bap-3);
    p = FMA(p, t, 0x1.5b40cb10111d3p-3);
    p = FMA(p, t, -0x1.a8b9c17aa77acp-3);
    p = FMA(p, t, 0x1.151322ac7d830p-2);
    p = FMA(p, t, -0x1.9a4d55beab2cfp-2);
    p = FMA(p, t, 0x1.a51a6625307d3p-1);
    p = FMA(p, t, -0x1.2788cfc6fb619p-1);
    return p;
}

// lgamma(2 + t) / t, t in [-0.5, 1.0]: 2^-60.6
INLINE real lgamma_at_2(real t) {
    real p = -0x1.8846bb442c259p-31;
    p = FMA(p, t, 0x1.80c36b5741faep-28);
    p = FMA(p, t, -0x1.6402863555961p-26);
    p = FMA(p, t, 0x1.b76baace3240ap-25);
    p = FMA(p, t, -0x1.c43a03b00e0ecp-24);
    p = FMA(p, t, 0x1.c9b8a6f880782p-23);
    p = FMA(p, t, -0x1.e02f76391be7cp-22);
    p = FMA(p, t, 0x1.0006cb8ec5c67p-20);
    p = FMA(p, t, -0x1.11bb050a2404dp-19);
    p = FMA(p, t, 0x1.259f8ccc0d66dp-18);
    p = FMA(p, t, -0x1.3cbd06da420fep-17);
    p = FMA(p, t, 0x1.580d7980d769fp-16);
    p = FMA(p, t, -0x1.78de51325586dp-15);
    p = FMA(p, t, 0x1.a127b2eb5fefep-14);
    p = FMA(p, t, -0x1.d3fd4ccfc4ba8p-13);
    p = FMA(p, t, 0x1.0b36af8314d16p-11);
    p = FMA(p, t, -0x1.38ac5c2b42613p-10);
    p = FMA(p, t, 0x1.7add6eadbb989p-9);
    p = FMA(p, t, -0x1.e404fc2190c46p-8);
    p = FMA(p, t, 0x1.51322ac7d846cp-6);
    p = FMA(p, t, -0x1.13e001a557602p-4);
    p = FMA(p, t, 0x1.4a34cc4a60fa6p-2);
    p = FMA(p, t, 0x1.b0ee6072093cep-2);
    return p;
}

// x (lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2) of t = 1 / x^2, t in [0.0, 0.015625]: 2^-62.5
INLINE real stirling(real t) {
    real p = -0x1.55b3a71b66a2ep-6;
    p = FMA(p, t, 0x1.96db40614b193p-8);
    p = FMA(p, t, -0x1.f5ff2fdcdf048p-10);
    p = FMA(p, t, 0x1.b94f6d6592192p-11);
    p = FMA(p, t, -0x1.38137ec070147p-11);
    p = FMA(p, t, 0x1.a01a019ee0dbep-11);
    p = FMA(p, t, -0x1.6c16c16c16b29p-9);
    p = FMA(p, t, 0x1.5555555555555p-4);
    return p;
}

// (1 / tgamma(1 + t) - 1) / t, t in [-0.5, 0.5]: 2^-58.8
INLINE real gamma_inverse(real t) {
    real p = 0x1.5ec1275340197p-28;
    p = FMA(p, t, 0x1.5372033fab1cbp-28);
    p = FMA(p, t, -0x1.b9af0d0892934p-23);
    p = FMA(p, t, 0x1.3045d6e44720dp-20);
    p = FMA(p, t, -0x1.4faca92f845e7p-20);
    p = FMA(p, t, -0x1.51cef9e68440bp-16);
    p = FMA(p, t, 0x1.0c8a78a9e1af1p-13);
    p = FMA(p, t, -0x1.c364fccf31d2ap-13);
    p = FMA(p, t, -0x1.317112cdf1782p-10);
    p = FMA(p, t, 0x1.d919c527225ddp-8);
    p = FMA(p, t, -0x1.3b4af284842acp-7);
    p = FMA(p, t, -0x1.59af103c33358p-5);
    p = FMA(p, t, 0x1.5512320b43fbfp-3);
    p = FMA(p, t, -0x1.5815e8fa27070p-5);
    p = FMA(p, t, -0x1.4fcf4026afa2ep-1);
    p = FMA(p, t, 0x1.2788cfc6fb619p-1);
    return p;
}

// j0(x) / (x^2 - z^2) of t = x^2 - 8, z its first zero, t in [-8.0, 8.0]: 2^-61.6
INLINE real j0_near(real t) {
    real p = 0x1.14844882680bfp-82;
    p = FMA(p, t, -0x1.3344f418421d9p-73);
    p = FMA(p, t, 0x1.1e1403c582f38p-64);
    p = FMA(p, t, -0x1.b72e5fe144952p-56);
    p = FMA(p, t, 0x1.0fff1f804b5a6p-47);
    p = FMA(p, t, -0x1.08c621262a183p-39);
    p = FMA(p, t, 0x1.87a4ac4403e73p-32);
    p = FMA(p, t, -0x1.a4b2380ccc120p-25);
    p = FMA(p, t, 0x1.33fa04134f0abp-18);
    p = FMA(p, t, -0x1.17057235d9c2bp-12);
    p = FMA(p, t, 0x1.08d902d0bf620p-7);
    p = FMA(p, t, -0x1.6b2948e843e2bp-4);
    return p;
}

// j0(x) / (x - z) of t = x - 6, z its second zero, t in [-2.0, 2.0]: 2^-67.8
INLINE real j0_far(real t) {
    real p = 0x1.97486d5dfcd91p-70;
    p = FMA(p, t, 0x1.2253dd869891ap-64);
    p = FMA(p, t, -0x1.76910916e36fcp-61);
    p = FMA(p, t, -0x1.d41a9bdee1630p-56);
    p = FMA(p, t, 0x1.10b8772c8478ap-52);
    p = FMA(p, t, 0x1.2423e968a4a38p-47);
    p = FMA(p, t, -0x1.3f2ae0dd9371cp-44);
    p = FMA(p, t, -0x1.1e6c083ded6b3p-39);
    p = FMA(p, t, 0x1.2469e91e133c8p-36);
    p = FMA(p, t, 0x1.aab88ffd71b54p-32);
    p = FMA(p, t, -0x1.950ff5c66825fp-29);
    p = FMA(p, t, -0x1.cd44e15c7b5e5p-25);
    p = FMA(p, t, 0x1.949f159a34e69p-22);
    p = FMA(p, t, 0x1.52a757fc045dfp-18);
    p = FMA(p, t, -0x1.104aed84765e6p-15);
    p = FMA(p, t, -0x1.307fa1bf6f4f2p-12);
    p = FMA(p, t, 0x1.bb360f4dac2dbp-10);
    p = FMA(p, t, 0x1.15618767e6bd5p-7);
    p = FMA(p, t, -0x1.63c76276a6e68p-5);
    p = FMA(p, t, -0x1.3d97028754e56p-4);
    p = FMA(p, t, 0x1.416dc96e57c0ep-2);
    return p;
}

// j1(x) / (x (x^2 - z^2)) of t = x^2 - 12.5, z its first zero, t in [-12.5, 12.5]: 2^-63.2
INLINE real j1_near(real t) {
    real p = -0x1.c284b8709f938p-97;
    p = FMA(p, t, 0x1.3b65ac8abe6a9p-87);
    p = FMA(p, t, -0x1.792c117cc4a69p-78);
    p = FMA(p, t, 0x1.7cc73276e6288p-69);
    p = FMA(p, t, -0x1.3f0c637e41fd5p-60);
    p = FMA(p, t, 0x1.b318a519cfc97p-52);
    p = FMA(p, t, -0x1.d7381802e16abp-44);
    p = FMA(p, t, 0x1.88d6fbdab67a3p-36);
    p = FMA(p, t, -0x1.e3bd8ce3d27b5p-29);
    p = FMA(p, t, 0x1.9f348e9fa6590p-22);
    p = FMA(p, t, -0x1.c74a71d1878a8p-16);
    p = FMA(p, t, 0x1.128893a098463p-10);
    p = FMA(p, t, -0x1.041c9423ec767p-6);
    return p;
}

// j1(x) / (x - z) of t = x - 6.5, z its second zero, t in [-1.5, 1.5]: 2^-71.1
INLINE real j1_far(real t) {
    real p = -0x1.96918beba30fcp-60;
    p = FMA(p, t, -0x1.577fcfed384e6p-59);
    p = FMA(p, t, 0x1.23d99cf3262fep-51);
    p = FMA(p, t, 0x1.7986763947e35p-51);
    p = FMA(p, t, -0x1.46da9cebda285p-43);
    p = FMA(p, t, -0x1.25378418ff61fp-43);
    p = FMA(p, t, 0x1.1bfb09efc91b3p-35);
    p = FMA(p, t, 0x1.23c819838b7a4p-36);
    p = FMA(p, t, -0x1.70bb58c08cf71p-28);
    p = FMA(p, t, -0x1.bbc8d99e206aep-31);
    p = FMA(p, t, 0x1.53d2ad8de434ep-21);
    p = FMA(p, t, -0x1.ec064dbc32ab7p-24);
    p = FMA(p, t, -0x1.9cbaeed617fa6p-15);
    p = FMA(p, t, 0x1.7a11529a2f077p-16);
    p = FMA(p, t, 0x1.25bfadb1283b9p-9);
    p = FMA(p, t, -0x1.73a59e34c2eaep-10);
    p = FMA(p, t, -0x1.8bedb81f6736dp-5);
    p = FMA(p, t, 0x1.d08a4092f3ab2p-6);
    p = FMA(p, t, 0x1.318ace8aae254p-2);
    return p;
}

// (y0(x) - 2 / pi log(x / z) j0(x)) / (x^2 - z^2) of t = x^2, z its first zero, t in [0.0, 9.0]: 2^-55.1
INLINE real y0_near(real t) {
    real p = -0x1.37c8bc68a55f7p-63;
    p = FMA(p, t, 0x1.02583ef80a9a5p-54);
    p = FMA(p, t, -0x1.3c49bc7144353p-46);
    p = FMA(p, t, 0x1.2eb3a73210467p-38);
    p = FMA(p, t, -0x1.b797010b7b677p-31);
    p = FMA(p, t, 0x1.cf0413cef2af7p-24);
    p = FMA(p, t, -0x1.4c030d9988b08p-17);
    p = FMA(p, t, 0x1.268a9aaaeab35p-11);
    p = FMA(p, t, -0x1.12583f4a4abc2p-6);
    p = FMA(p, t, 0x1.750811790a13cp-3);
    return p;
}

// y0(x) / (x - z) of t = x - 4.25, z its second zero, t in [-1.25, 1.25]: 2^-61.8
INLINE real y0_middle(real t) {
    real p = 0x1.bf40222a4b9dfp-49;
    p = FMA(p, t, -0x1.f0e1f8c272ce5p-47);
    p = FMA(p, t, 0x1.43ce43578ca79p-45);
    p = FMA(p, t, -0x1.6a31645cd7635p-43);
    p = FMA(p, t, 0x1.c881233694bedp-41);
    p = FMA(p, t, -0x1.00fe75f9f778cp-38);
    p = FMA(p, t, 0x1.1f505ddcef5b4p-36);
    p = FMA(p, t, -0x1.3a8481cdfdc8ep-34);
    p = FMA(p, t, 0x1.586e750afa615p-32);
    p = FMA(p, t, -0x1.035fec1be1075p-29);
    p = FMA(p, t, 0x1.66875e5ea4e08p-27);
    p = FMA(p, t, 0x1.5262a00a988a9p-26);
    p = FMA(p, t, -0x1.3863b39e313aap-22);
    p = FMA(p, t, -0x1.77ab0bb29e6b9p-18);
    p = FMA(p, t, 0x1.511e31b376fa4p-15);
    p = FMA(p, t, 0x1.20c25013ffb9dp-12);
    p = FMA(p, t, -0x1.e1a13358ce01ap-10);
    p = FMA(p, t, -0x1.2df296e9297edp-7);
    p = FMA(p, t, 0x1.a57853aa7589bp-5);
    p = FMA(p, t, 0x1.54653b59c9e5cp-4);
    p = FMA(p, t, -0x1.880cffe3a0941p-2);
    return p;
}

// y0(x) / (x - z) of t = x - 6.75, z its third zero, t in [-1.25, 1.25]: 2^-69.4
INLINE real y0_far(real t) {
    real p = 0x1.5d53074b9c5c9p-58;
    p = FMA(p, t, -0x1.db8abde1473e0p-55);
    p = FMA(p, t, 0x1.b3521827bb521p-51);
    p = FMA(p, t, 0x1.d96fac75d5d6cp-51);
    p = FMA(p, t, -0x1.245144b036fb3p-43);
    p = FMA(p, t, -0x1.987e2b5e8fffdp-41);
    p = FMA(p, t, 0x1.2000fad77c428p-35);
    p = FMA(p, t, 0x1.d404d6a612710p-34);
    p = FMA(p, t, -0x1.6f50529167619p-28);
    p = FMA(p, t, -0x1.df488f440f6fdp-27);
    p = FMA(p, t, 0x1.596eaa5282d0ep-21);
    p = FMA(p, t, 0x1.1a6af67e08a57p-20);
    p = FMA(p, t, -0x1.a6ce14e79b430p-15);
    p = FMA(p, t, -0x1.671ee28d47332p-15);
    p = FMA(p, t, 0x1.31928eb7849c5p-9);
    p = FMA(p, t, 0x1.1bae915955d9fp-12);
    p = FMA(p, t, -0x1.986087c7fc3b2p-5);
    p = FMA(p, t, 0x1.858bb5a4fa6f3p-7);
    p = FMA(p, t, 0x1.34eee4b2f27c7p-2);
    return p;
}

// (y1(x) - 2 / pi log(x / z) j1(x)) x / (x^2 - z^2) of t = x^2, z its first zero, t in [0.0, 16.0]: 2^-58.0
INLINE real y1_near(real t) {
    real p = 0x1.36604b6db7f0fp-77;
    p = FMA(p, t, -0x1.64f9d19147c8ep-68);
    p = FMA(p, t, 0x1.28d2b86f1826dp-59);
    p = FMA(p, t, -0x1.8caa9f6b3e5c0p-51);
    p = FMA(p, t, 0x1.a3ab14c90efb8p-43);
    p = FMA(p, t, -0x1.549cf7ca0634cp-35);
    p = FMA(p, t, 0x1.96551dbcbf981p-28);
    p = FMA(p, t, -0x1.4f29406924fe1p-21);
    p = FMA(p, t, 0x1.5ba2f20a54a35p-15);
    p = FMA(p, t, -0x1.7c2ca06d8e2efp-10);
    p = FMA(p, t, 0x1.069922dcaf0ddp-6);
    p = FMA(p, t, 0x1.0e14beba09e96p-3);
    return p;
}

// y1(x) / (x - z) of t = x - 6, z its second zero, t in [-2.0, 2.0]: 2^-59.6
INLINE real y1_far(real t) {
    real p = 0x1.4b59b48aa5e7cp-62;
    p = FMA(p, t, -0x1.efaeea547c64ap-60);
    p = FMA(p, t, 0x1.08f70944354fap-58);
    p = FMA(p, t, -0x1.8ce1489f07907p-56);
    p = FMA(p, t, 0x1.bd718b4fa6c34p-53);
    p = FMA(p, t, -0x1.442a35545f779p-50);
    p = FMA(p, t, 0x1.c300df1757cbcp-48);
    p = FMA(p, t, -0x1.a35a496aef5f5p-45);
    p = FMA(p, t, 0x1.515034b253018p-42);
    p = FMA(p, t, 0x1.55e84ce1be53ap-41);
    p = FMA(p, t, -0x1.1257e296fde9fp-37);
    p = FMA(p, t, -0x1.d368b12effd4cp-32);
    p = FMA(p, t, 0x1.a874464e26d55p-29);
    p = FMA(p, t, 0x1.b0fa0e751a8f2p-25);
    p = FMA(p, t, -0x1.72fed379be61bp-22);
    p = FMA(p, t, -0x1.4c0230a6437c3p-18);
    p = FMA(p, t, 0x1.005abac2f8cf1p-15);
    p = FMA(p, t, 0x1.266b1555b39eep-12);
    p = FMA(p, t, -0x1.94a78f4d6fcabp-10);
    p = FMA(p, t, -0x1.155cf697f3ac7p-7);
    p = FMA(p, t, 0x1.4739eeba02f89p-5);
    p = FMA(p, t, 0x1.579152b20729fp-4);
    p = FMA(p, t, -0x1.3a3a8cefc7efcp-2);
    return p;
}

// sqrt((j0^2 + y0^2) pi x / 2) of t = 64 / x^2, t in [0.0, 1.0]: 2^-52.7
INLINE real modulus_0(real t) {
    real p = 0x1.74aa1479938eap-32;
    p = FMA(p, t, -0x1.426016ff35453p-29);
    p = FMA(p, t, 0x1.10087212c74c5p-27);
    p = FMA(p, t, -0x1.418deee38bfa6p-26);
    p = FMA(p, t, 0x1.56d4a6d051388p-25);
    p = FMA(p, t, -0x1.a760202ea528bp-24);
    p = FMA(p, t, 0x1.761d2cbe2abe0p-22);
    p = FMA(p, t, -0x1.15ef3d142fe12p-19);
    p = FMA(p, t, 0x1.a7fffe7fb364ap-16);
    p = FMA(p, t, -0x1.ffffffffb4bc3p-11);
    p = FMA(p, t, 0x1.fffffffffffffp-1);
    return p;
}

// x (the phase of j0 + i y0 - x + pi / 4) of t = 64 / x^2, t in [0.0, 1.0]: 2^-49.2
INLINE real phase_0(real t) {
    real p = 0x1.a7be63f2a8f01p-30;
    p = FMA(p, t, -0x1.7981c01301434p-27);
    p = FMA(p, t, 0x1.3e40e12dc21a0p-25);
    p = FMA(p, t, -0x1.5fc0f8f430f8fp-24);
    p = FMA(p, t, 0x1.359ca8feafaaap-23);
    p = FMA(p, t, -0x1.0798363ce6deap-22);
    p = FMA(p, t, 0x1.0a008367c0aabp-21);
    p = FMA(p, t, -0x1.7774e908b70bfp-20);
    p = FMA(p, t, 0x1.a35761415eee6p-18);
    p = FMA(p, t, -0x1.ad3331b53e336p-15);
    p = FMA(p, t, 0x1.0aaaaaaa6be94p-10);
    p = FMA(p, t, -0x1.ffffffffffff2p-4);
    return p;
}

// sqrt((j1^2 + y1^2) pi x / 2) of t = 64 / x^2, t in [0.0, 1.0]: 2^-52.5
INLINE real modulus_1(real t) {
    real p = -0x1.ad76b06138248p-32;
    p = FMA(p, t, 0x1.74a9e6f7a3ea7p-29);
    p = FMA(p, t, -0x1.3c38878add812p-27);
    p = FMA(p, t, 0x1.79c0f48aaab40p-26);
    p = FMA(p, t, -0x1.9af5d36feb63bp-25);
    p = FMA(p, t, 0x1.0727bfe5041dbp-23);
    p = FMA(p, t, -0x1.ef2064a621dadp-22);
    p = FMA(p, t, 0x1.9c4f224c194f7p-19);
    p = FMA(p, t, -0x1.8bffff255c0a3p-15);
    p = FMA(p, t, 0x1.7fffffffea95cp-9);
    p = FMA(p, t, 0x1.0000000000001p+0);
    return p;
}

// x (the phase of j1 + i y1 - x + 3 pi / 4) of t = 64 / x^2, t in [0.0, 1.0]: 2^-50.6
INLINE real phase_1(real t) {
    real p = -0x1.e34b359dafcc7p-30;
    p = FMA(p, t, 0x1.af6b1ce8cc1d8p-27);
    p = FMA(p, t, -0x1.6ce96ae33eebbp-25);
    p = FMA(p, t, 0x1.95b4baa6abc9fp-24);
    p = FMA(p, t, -0x1.6904ac9b7fdd1p-23);
    p = FMA(p, t, 0x1.39921efbed551p-22);
    p = FMA(p, t, -0x1.478b8115b6d60p-21);
    p = FMA(p, t, 0x1.e9d201f62cfa4p-20);
    p = FMA(p, t, -0x1.2f47eaf33e1d8p-17);
    p = FMA(p, t, 0x1.7bcccbf5550dap-14);
    p = FMA(p, t, -0x1.4fffffffdc979p-9);
    p = FMA(p, t, 0x1.7fffffffffffcp-2);
    return p;
}

// (i0(x) - 1) / x^2 of t = x^2, t in [0.0, 16.0]: 2^-56.5
INLINE real i0_near(real t) {
    real p = 0x1.a55b0b4f0230ap-73;
    p = FMA(p, t, 0x1.517a3a688aa80p-64);
    p = FMA(p, t, 0x1.0b6265b8000eep-55);
    p = FMA(p, t, 0x1.5227af68f4125p-47);
    p = FMA(p, t, 0x1.522a5a28fb7cfp-39);
    p = FMA(p, t, 0x1.02e85b8e23fb8p-31);
    p = FMA(p, t, 0x1.2345678cf53f4p-24);
    p = FMA(p, t, 0x1.c71c71c7021cbp-18);
    p = FMA(p, t, 0x1.c71c71c71cddep-12);
    p = FMA(p, t, 0x1.fffffffffffeap-7);
    p = FMA(p, t, 0x1.0000000000000p-2);
    return p;
}

// i0(x) exp(-x) of t = x - 6, t in [-2.0, 2.0]: 2^-57.0
INLINE real i0_middle(real t) {
    real p = -0x1.c9c3dcb01b605p-58;
    p = FMA(p, t, 0x1.24fb2f77d708bp-54);
    p = FMA(p, t, -0x1.1ee4b75dbf88fp-51);
    p = FMA(p, t, 0x1.46eff40326fbbp-48);
    p = FMA(p, t, -0x1.6b4b9dd285c65p-45);
    p = FMA(p, t, 0x1.77195a7368012p-42);
    p = FMA(p, t, -0x1.6e99326eec646p-39);
    p = FMA(p, t, 0x1.5411e168214bap-36);
    p = FMA(p, t, -0x1.2b3346d12ecefp-33);
    p = FMA(p, t, 0x1.f456d0aaa6fa1p-31);
    p = FMA(p, t, -0x1.8f6246ad8a7c4p-28);
    p = FMA(p, t, 0x1.32b25a68d3757p-25);
    p = FMA(p, t, -0x1.ca69922f5cfabp-23);
    p = FMA(p, t, 0x1.5285b82fb5750p-20);
    p = FMA(p, t, -0x1.f6bca41d11a64p-18);
    p = FMA(p, t, 0x1.7deeaea53b48fp-15);
    p = FMA(p, t, -0x1.2dd51ba2d3fe7p-12);
    p = FMA(p, t, 0x1.fb40e2ca60f90p-10);
    p = FMA(p, t, -0x1.de9bc8e46191ep-7);
    p = FMA(p, t, 0x1.55507df69630cp-3);
    return p;
}

// i0(x) exp(-x) sqrt(x) of t = 16 / x - 1, t in [-1.0, 1.0]: 2^-57.6
INLINE real i0_far(real t) {
    real p = 0x1.6e48b56608f90p-36;
    p = FMA(p, t, -0x1.03b4aa8a9e407p-34);
    p = FMA(p, t, -0x1.4b4eae130efc2p-33);
    p = FMA(p, t, 0x1.ec7656d43152ap-32);
    p = FMA(p, t, 0x1.1998ba2c8ef47p-31);
    p = FMA(p, t, -0x1.b5e3e7f99d058p-30);
    p = FMA(p, t, -0x1.3ab3b1c19a518p-30);
    p = FMA(p, t, 0x1.ee943d682b9f4p-29);
    p = FMA(p, t, 0x1.2159f0c508719p-29);
    p = FMA(p, t, -0x1.9683a45b51615p-28);
    p = FMA(p, t, -0x1.0c5d8b2e86f47p-28);
    p = FMA(p, t, 0x1.fcf3dd682ab36p-28);
    p = FMA(p, t, 0x1.09d8aa3fc68b0p-27);
    p = FMA(p, t, -0x1.72b4495699537p-28);
    p = FMA(p, t, -0x1.ceb2c3f3c2085p-27);
    p = FMA(p, t, -0x1.cfe4f8bebe7e4p-28);
    p = FMA(p, t, 0x1.03fa571f405c2p-27);
    p = FMA(p, t, 0x1.723509510cd4ap-26);
    p = FMA(p, t, 0x1.51cb3832a6046p-25);
    p = FMA(p, t, 0x1.7d0f0727d6a9dp-24);
    p = FMA(p, t, 0x1.3f49af1ca6576p-22);
    p = FMA(p, t, 0x1.8e513a7ddffecp-20);
    p = FMA(p, t, 0x1.75e5ee6fabb85p-17);
    p = FMA(p, t, 0x1.1daa72b5e22b2p-13);
    p = FMA(p, t, 0x1.b87969bb93bd2p-9);
    p = FMA(p, t, 0x1.9bd428ad249a5p-2);
    return p;
}

// (i1(x) / x - 1/2) / x^2 of t = x^2, t in [0.0, 16.0]: 2^-59.2
INLINE real i1_near(real t) {
    real p = 0x1.15a714552e7dap-77;
    p = FMA(p, t, 0x1.ebedcd0881da8p-69);
    p = FMA(p, t, 0x1.abbdfe69ceb25p-60);
    p = FMA(p, t, 0x1.2c95c5c00b510p-51);
    p = FMA(p, t, 0x1.522a51811ed55p-43);
    p = FMA(p, t, 0x1.27e4fb2cd930ap-35);
    p = FMA(p, t, 0x1.845c8a0ee639dp-28);
    p = FMA(p, t, 0x1.6c16c16c0eba2p-21);
    p = FMA(p, t, 0x1.c71c71c71c92cp-15);
    p = FMA(p, t, 0x1.5555555555552p-9);
    p = FMA(p, t, 0x1.0000000000000p-4);
    return p;
}

// i1(x) exp(-x) of t = x - 6, t in [-2.0, 2.0]: 2^-57.0
INLINE real i1_middle(real t) {
    real p = 0x1.9b497b9b2edf3p-58;
    p = FMA(p, t, -0x1.0466e9c404527p-54);
    p = FMA(p, t, 0x1.f46b40f278e0bp-52);
    p = FMA(p, t, -0x1.181cd298b7caep-48);
    p = FMA(p, t, 0x1.30fb004543b1bp-45);
    p = FMA(p, t, -0x1.325dc3fd051f4p-42);
    p = FMA(p, t, 0x1.20e63b951dedep-39);
    p = FMA(p, t, -0x1.ff4571b426f90p-37);
    p = FMA(p, t, 0x1.a5e11d31966d0p-34);
    p = FMA(p, t, -0x1.42767e76710cdp-31);
    p = FMA(p, t, 0x1.c413a91b16a5cp-29);
    p = FMA(p, t, -0x1.1d386723b9b22p-26);
    p = FMA(p, t, 0x1.35f64aea7c672p-24);
    p = FMA(p, t, -0x1.f4b53e1445424p-23);
    p = FMA(p, t, 0x1.42fc08058eaacp-24);
    p = FMA(p, t, 0x1.0ee3204ca57cdp-17);
    p = FMA(p, t, -0x1.bb771140b6cabp-14);
    p = FMA(p, t, 0x1.18e10e1041dedp-10);
    p = FMA(p, t, -0x1.5fcb9031c957dp-7);
    p = FMA(p, t, 0x1.3766c1685017ap-3);
    return p;
}

// i1(x) exp(-x) sqrt(x) of t = 16 / x - 1, t in [-1.0, 1.0]: 2^-57.5
INLINE real i1_far(real t) {
    real p = -0x1.5a29b473f1663p-36;
    p = FMA(p, t, 0x1.0ddc7620a9205p-34);
    p = FMA(p, t, 0x1.37bea5c8dbcccp-33);
    p = FMA(p, t, -0x1.fff33f3b3e75ap-32);
    p = FMA(p, t, -0x1.07d06c81c1d24p-31);
    p = FMA(p, t, 0x1.c7aed1ee533f7p-30);
    p = FMA(p, t, 0x1.268bd450a314cp-30);
    p = FMA(p, t, -0x1.01ef463d9c576p-28);
    p = FMA(p, t, -0x1.11c9f66d690fcp-29);
    p = FMA(p, t, 0x1.aa440cf09ce30p-28);
    p = FMA(p, t, 0x1.05656ba38c1b6p-28);
    p = FMA(p, t, -0x1.0e2bb88351649p-27);
    p = FMA(p, t, -0x1.0c96c7afcb02cp-27);
    p = FMA(p, t, 0x1.99d190fe908dap-28);
    p = FMA(p, t, 0x1.e413f0678e137p-27);
    p = FMA(p, t, 0x1.ceff3cea7c3a4p-28);
    p = FMA(p, t, -0x1.21f47a4eb566bp-27);
    p = FMA(p, t, -0x1.9191ff33370adp-26);
    p = FMA(p, t, -0x1.727702ec186d3p-25);
    p = FMA(p, t, -0x1.ad8d43e5d60bep-24);
    p = FMA(p, t, -0x1.7613865ea6e9ap-22);
    p = FMA(p, t, -0x1.ec8e107bd7eaap-20);
    p = FMA(p, t, -0x1.f89c230446f74p-17);
    p = FMA(p, t, -0x1.cbc54df1e894cp-13);
    p = FMA(p, t, -0x1.3f796198ee63fp-7);
    p = FMA(p, t, 0x1.8ebe783a84030p-2);
    return p;
}
