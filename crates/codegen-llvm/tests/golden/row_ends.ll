define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  %7 = alloca i32, align 4
  %8 = alloca i64, align 8
  %9 = alloca i64, align 8
  %10 = alloca i64, align 8
  %11 = alloca i64, align 8
  %12 = alloca i64, align 8
  %13 = alloca i64, align 8
  %14 = alloca i64, align 8
  %15 = alloca <8 x i1>, align 1
  %16 = alloca <8 x i1>, align 1
  %17 = alloca <8 x i1>, align 1
  %18 = alloca <8 x float>, align 32
  %19 = alloca i64, align 8
  %20 = alloca <8 x float>, align 32
  %21 = alloca <16 x i1>, align 2
  %22 = alloca <16 x i1>, align 2
  %23 = alloca <16 x i1>, align 2
  %24 = alloca <16 x float>, align 64
  %25 = alloca i64, align 8
  %26 = alloca <16 x float>, align 64
  %27 = alloca float, align 4
  %28 = alloca i64, align 8
  %29 = alloca float, align 4
  br label %30

30:
  %31 = load i32, ptr %1, align 4
  %32 = zext i32 %31 to i64
  %33 = getelementptr i8, ptr %1, i64 4
  %34 = load i32, ptr %33, align 4
  %35 = zext i32 %34 to i64
  %36 = getelementptr i8, ptr %1, i64 8
  %37 = load i32, ptr %36, align 4
  %38 = zext i32 %37 to i64
  %39 = getelementptr i8, ptr %1, i64 16
  %40 = load i32, ptr %39, align 4
  %41 = zext i32 %40 to i64
  %42 = getelementptr i8, ptr %1, i64 20
  %43 = load i32, ptr %42, align 4
  %44 = zext i32 %43 to i64
  %45 = getelementptr i8, ptr %1, i64 24
  %46 = load i32, ptr %45, align 4
  %47 = zext i32 %46 to i64
  %48 = getelementptr i8, ptr %1, i64 32
  %49 = load i64, ptr %48, align 8
  %50 = getelementptr i8, ptr %1, i64 40
  %51 = load i64, ptr %50, align 8
  %52 = getelementptr i8, ptr %1, i64 48
  %53 = load i64, ptr %52, align 8
  %54 = getelementptr i8, ptr %1, i64 28
  %55 = load i32, ptr %54, align 4
  %56 = zext i32 %55 to i64
  %57 = getelementptr i8, ptr %1, i64 12
  %58 = load i32, ptr %57, align 4
  %59 = zext i32 %58 to i64
  %60 = getelementptr i8, ptr %1, i64 72
  %61 = load i64, ptr %60, align 8
  %62 = getelementptr i8, ptr %1, i64 56
  %63 = load i64, ptr %62, align 8
  %64 = getelementptr i8, ptr %4, i64 %63
  %65 = load ptr, ptr %0, align 8
  %66 = getelementptr i8, ptr %0, i64 8
  %67 = load ptr, ptr %66, align 8
  %68 = add i64 %2, %3
  %69 = getelementptr i8, ptr %1, i64 80
  %70 = load ptr, ptr %69, align 8
  store i8 0, ptr %6, align 1
  %71 = icmp eq ptr %70, null
  %72 = select i1 %71, ptr %6, ptr %70
  br label %73

73:
  %74 = phi i64 [ %2, %30 ], [ %91, %90 ]
  %75 = icmp ult i64 %74, %68
  br i1 %75, label %76, label %92

76:
  %77 = load atomic i8, ptr %72 monotonic, align 1
  %78 = icmp ne i8 %77, 0
  br i1 %78, label %92, label %79

79:
  %80 = udiv i64 %74, %41
  %81 = urem i64 %74, %41
  %82 = urem i64 %80, %44
  %83 = udiv i64 %80, %44
  %84 = mul i64 %81, %32
  %85 = add i64 %84, %49
  %86 = mul i64 %82, %35
  %87 = add i64 %86, %51
  %88 = mul i64 %83, %38
  %89 = add i64 %88, %53
  br label %93

90:
  %91 = add i64 %74, 1
  br label %73

92:
  ret void

93:
  store i64 0, ptr %10, align 8
  br label %94

94:
  store i64 0, ptr %9, align 8
  store i64 0, ptr %14, align 8
  br label %95

95:
  store i64 0, ptr %8, align 8
  %96 = load i64, ptr %9, align 8
  %97 = load i64, ptr %10, align 8
  %98 = mul i64 %97, %35
  %99 = add i64 %98, %96
  %100 = mul i64 %99, %32
  %101 = add i64 %100, 0
  %102 = sub i64 %32, 1
  %103 = add i64 %87, %96
  %104 = trunc i64 %103 to i32
  %105 = shl i32 %104, 7
  %106 = add i64 %85, 0
  %107 = trunc i64 %106 to i32
  %108 = add i32 %105, %107
  %109 = mul i64 %102, 1
  %110 = sext i32 %108 to i64
  %111 = add i64 %110, %109
  %112 = trunc i64 %111 to i32
  %113 = sext i32 %112 to i64
  %114 = icmp eq i64 %111, %113
  br i1 %114, label %132, label %131

115:
  %116 = load i64, ptr %8, align 8
  %117 = sub i64 %32, %116
  %118 = icmp uge i64 %117, 16
  br i1 %118, label %133, label %146

119:
  br label %251

120:
  %121 = load i64, ptr %9, align 8
  %122 = add i64 %121, 1
  store i64 %122, ptr %9, align 8
  %123 = load i64, ptr %9, align 8
  %124 = icmp ult i64 %123, %35
  br i1 %124, label %95, label %125

125:
  %126 = load i64, ptr %10, align 8
  %127 = add i64 %126, 1
  store i64 %127, ptr %10, align 8
  %128 = load i64, ptr %10, align 8
  %129 = icmp ult i64 %128, %38
  br i1 %129, label %94, label %130

130:
  br label %90

131:
  store i64 0, ptr %11, align 8
  store i64 %32, ptr %12, align 8
  br label %119

132:
  br label %115

133:
  %134 = load i64, ptr %8, align 8
  %135 = load i64, ptr %9, align 8
  %136 = load i64, ptr %10, align 8
  %137 = mul i64 %136, %35
  %138 = add i64 %137, %135
  %139 = mul i64 %138, %32
  %140 = add i64 %139, %134
  store <16 x i1> zeroinitializer, ptr %21, align 2
  store <16 x i1> zeroinitializer, ptr %22, align 2
  store <16 x i1> zeroinitializer, ptr %23, align 2
  br label %207

141:
  %142 = load i64, ptr %8, align 8
  %143 = add i64 %142, 16
  store i64 %143, ptr %8, align 8
  %144 = load i64, ptr %8, align 8
  %145 = icmp ult i64 %144, %32
  br i1 %145, label %115, label %120

146:
  %147 = icmp uge i64 %117, 8
  br i1 %147, label %148, label %156

148:
  %149 = load i64, ptr %8, align 8
  %150 = load i64, ptr %9, align 8
  %151 = load i64, ptr %10, align 8
  %152 = mul i64 %151, %35
  %153 = add i64 %152, %150
  %154 = mul i64 %153, %32
  %155 = add i64 %154, %149
  store <8 x i1> zeroinitializer, ptr %15, align 1
  store <8 x i1> zeroinitializer, ptr %16, align 1
  store <8 x i1> zeroinitializer, ptr %17, align 1
  br label %163

156:
  %157 = load i64, ptr %8, align 8
  store i64 %157, ptr %11, align 8
  store i64 %32, ptr %12, align 8
  br label %119

158:
  %159 = load i64, ptr %8, align 8
  %160 = add i64 %159, 8
  store i64 %160, ptr %8, align 8
  %161 = load i64, ptr %8, align 8
  %162 = icmp ult i64 %161, %32
  br i1 %162, label %115, label %120

163:
  store <8 x i1> zeroinitializer, ptr %15, align 1
  %164 = add i64 %85, %149
  %165 = add i64 %87, %150
  %166 = trunc i64 %164 to i32
  %167 = trunc i64 %165 to i32
  %168 = shl i32 %167, 7
  %169 = add i32 %168, %166
  %170 = sext i32 %169 to i64
  store i64 %170, ptr %19, align 8
  %171 = mul i64 %170, 4
  %172 = getelementptr i8, ptr %65, i64 %171
  %173 = load <8 x float>, ptr %172, align 4
  store <8 x float> %173, ptr %20, align 32
  %174 = insertelement <8 x i32> poison, i32 %166, i32 0
  %175 = shufflevector <8 x i32> %174, <8 x i32> poison, <8 x i32> zeroinitializer
  %176 = add <8 x i32> %175, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %177 = icmp ne <8 x i32> %176, zeroinitializer
  %178 = xor <8 x i1> %177, splat (i1 true)
  %179 = load <8 x i1>, ptr %16, align 1
  %180 = or <8 x i1> %179, %177
  store <8 x i1> %180, ptr %16, align 1
  store <8 x float> %173, ptr %18, align 32
  %181 = load <8 x i1>, ptr %17, align 1
  %182 = or <8 x i1> %181, %178
  store <8 x i1> %182, ptr %17, align 1
  br label %201

183:
  %184 = load <8 x i1>, ptr %16, align 1
  store <8 x i1> zeroinitializer, ptr %16, align 1
  %185 = load i64, ptr %19, align 8
  %186 = mul i64 %185, 4
  %187 = getelementptr i8, ptr %65, i64 %186
  %188 = getelementptr i8, ptr %187, i64 -4
  %189 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %188, <8 x i1> %184, <8 x float> poison)
  %190 = load <8 x float>, ptr %20, align 32
  %191 = fadd <8 x float> %190, %189
  %192 = load <8 x float>, ptr %18, align 32
  %193 = select <8 x i1> %184, <8 x float> %191, <8 x float> %192
  store <8 x float> %193, ptr %18, align 32
  %194 = load <8 x i1>, ptr %17, align 1
  %195 = or <8 x i1> %194, %184
  store <8 x i1> %195, ptr %17, align 1
  br label %196

196:
  store <8 x i1> zeroinitializer, ptr %17, align 1
  %197 = load <8 x float>, ptr %18, align 32
  %198 = load i64, ptr %19, align 8
  %199 = mul i64 %198, 4
  %200 = getelementptr i8, ptr %67, i64 %199
  store <8 x float> %197, ptr %200, align 4
  store i32 -1, ptr %7, align 4
  br label %158

201:
  %202 = load <8 x i1>, ptr %16, align 1
  %203 = bitcast <8 x i1> %202 to i8
  %204 = icmp ne i8 %203, 0
  br i1 %204, label %205, label %206

205:
  br label %183

206:
  store <8 x i1> zeroinitializer, ptr %16, align 1
  br label %196

207:
  store <16 x i1> zeroinitializer, ptr %21, align 2
  %208 = add i64 %85, %134
  %209 = add i64 %87, %135
  %210 = trunc i64 %208 to i32
  %211 = trunc i64 %209 to i32
  %212 = shl i32 %211, 7
  %213 = add i32 %212, %210
  %214 = sext i32 %213 to i64
  store i64 %214, ptr %25, align 8
  %215 = mul i64 %214, 4
  %216 = getelementptr i8, ptr %65, i64 %215
  %217 = load <16 x float>, ptr %216, align 4
  store <16 x float> %217, ptr %26, align 64
  %218 = insertelement <16 x i32> poison, i32 %210, i32 0
  %219 = shufflevector <16 x i32> %218, <16 x i32> poison, <16 x i32> zeroinitializer
  %220 = add <16 x i32> %219, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %221 = icmp ne <16 x i32> %220, zeroinitializer
  %222 = xor <16 x i1> %221, splat (i1 true)
  %223 = load <16 x i1>, ptr %22, align 2
  %224 = or <16 x i1> %223, %221
  store <16 x i1> %224, ptr %22, align 2
  store <16 x float> %217, ptr %24, align 64
  %225 = load <16 x i1>, ptr %23, align 2
  %226 = or <16 x i1> %225, %222
  store <16 x i1> %226, ptr %23, align 2
  br label %245

227:
  %228 = load <16 x i1>, ptr %22, align 2
  store <16 x i1> zeroinitializer, ptr %22, align 2
  %229 = load i64, ptr %25, align 8
  %230 = mul i64 %229, 4
  %231 = getelementptr i8, ptr %65, i64 %230
  %232 = getelementptr i8, ptr %231, i64 -4
  %233 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %232, <16 x i1> %228, <16 x float> poison)
  %234 = load <16 x float>, ptr %26, align 64
  %235 = fadd <16 x float> %234, %233
  %236 = load <16 x float>, ptr %24, align 64
  %237 = select <16 x i1> %228, <16 x float> %235, <16 x float> %236
  store <16 x float> %237, ptr %24, align 64
  %238 = load <16 x i1>, ptr %23, align 2
  %239 = or <16 x i1> %238, %228
  store <16 x i1> %239, ptr %23, align 2
  br label %240

240:
  store <16 x i1> zeroinitializer, ptr %23, align 2
  %241 = load <16 x float>, ptr %24, align 64
  %242 = load i64, ptr %25, align 8
  %243 = mul i64 %242, 4
  %244 = getelementptr i8, ptr %67, i64 %243
  store <16 x float> %241, ptr %244, align 4
  store i32 -1, ptr %7, align 4
  br label %141

245:
  %246 = load <16 x i1>, ptr %22, align 2
  %247 = bitcast <16 x i1> %246 to i16
  %248 = icmp ne i16 %247, 0
  br i1 %248, label %249, label %250

249:
  br label %227

250:
  store <16 x i1> zeroinitializer, ptr %22, align 2
  br label %240

251:
  %252 = load i64, ptr %11, align 8
  %253 = load i64, ptr %9, align 8
  %254 = load i64, ptr %10, align 8
  %255 = mul i64 %254, %35
  %256 = add i64 %255, %253
  %257 = mul i64 %256, %32
  %258 = add i64 %257, %252
  br label %269

259:
  %260 = load i64, ptr %11, align 8
  %261 = add i64 %260, 1
  store i64 %261, ptr %11, align 8
  %262 = load i64, ptr %11, align 8
  %263 = load i64, ptr %12, align 8
  %264 = icmp ult i64 %262, %263
  br i1 %264, label %251, label %265

265:
  %266 = load i64, ptr %12, align 8
  store i64 %266, ptr %8, align 8
  %267 = load i64, ptr %12, align 8
  %268 = icmp ult i64 %267, %32
  br i1 %268, label %115, label %120

269:
  %270 = add i64 %85, %252
  %271 = add i64 %87, %253
  %272 = trunc i64 %270 to i32
  %273 = trunc i64 %271 to i32
  %274 = shl i32 %273, 7
  %275 = add i32 %274, %272
  %276 = sext i32 %275 to i64
  store i64 %276, ptr %28, align 8
  %277 = mul i64 %276, 4
  %278 = getelementptr i8, ptr %65, i64 %277
  %279 = load float, ptr %278, align 4
  store float %279, ptr %29, align 4
  %280 = icmp ne i32 %272, 0
  br i1 %280, label %294, label %295

281:
  %282 = load i64, ptr %28, align 8
  %283 = mul i64 %282, 4
  %284 = getelementptr i8, ptr %65, i64 %283
  %285 = getelementptr i8, ptr %284, i64 -4
  %286 = load float, ptr %285, align 4
  %287 = load float, ptr %29, align 4
  %288 = fadd float %287, %286
  store float %288, ptr %27, align 4
  br label %289

289:
  %290 = load float, ptr %27, align 4
  %291 = load i64, ptr %28, align 8
  %292 = mul i64 %291, 4
  %293 = getelementptr i8, ptr %67, i64 %292
  store float %290, ptr %293, align 4
  store i32 -1, ptr %7, align 4
  br label %259

294:
  br label %281

295:
  store float %279, ptr %27, align 4
  br label %289
